package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Flags of a stored claim.
const (
	flagQueue    = 1
	flagDetached = 2
)

// about is the part of a stored claim that the client writes: 'WEIGHT LIMIT TTL CHANNEL FLAGS LENGTH:OWNER VALUE'.
// CHANNEL is the address at which the client listens.
func about(c driver.Claim, ttl int64, address string) string {
	flags := 0
	if c.Queue {
		flags |= flagQueue
	}
	if c.Detached {
		flags |= flagDetached
	}
	b := make([]byte, 0, 80+len(c.Owner)+len(c.Value))
	for _, n := range []int64{c.Weight, c.Limit, ttl} {
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ' ')
	}
	b = append(b, address...)
	b = append(b, ' ', byte('0'+flags), ' ')
	b = strconv.AppendInt(b, int64(len(c.Owner)), 10)
	b = append(b, ':')
	b = append(b, c.Owner...)
	b = append(b, c.Value...)
	return string(b)
}

// tokenDigits is how long tokens are in records and requests, so that scripts compare them as text.
const tokenDigits = 16

const zeros = "0000000000000000"

// tokenText writes a token as scripts do, and no token as "0".
func tokenText(token uint64) string {
	if token == 0 {
		return "0"
	}
	var b [20]byte
	text := strconv.AppendUint(b[:0], token, 10)
	if missing := tokenDigits - len(text); missing > 0 {
		return zeros[:missing] + string(text)
	}
	return string(text)
}

// parseStatus reads 'MARK TOKEN RETRY CONTENDED', perhaps with ' left ' and what is left of the TTL behind it.
func parseStatus(values []string, ttl time.Duration) (driver.Status, error) {
	if len(values) == 1 && values[0] == "gone" {
		return driver.Status{}, driver.ErrGone
	}
	if len(values) == 1 {
		mark, rest, _ := strings.Cut(values[0], " ")
		digits, rest, _ := strings.Cut(rest, " ")
		wait, rest, whole := strings.Cut(rest, " ")
		contended, lasts, isLeft := strings.Cut(rest, " left ")
		token, err1 := strconv.ParseUint(digits, 10, 64)
		retry, err2 := strconv.ParseInt(wait, 10, 64)
		lives, err3 := driver.Milliseconds(ttl), error(nil)
		if isLeft {
			lives, err3 = strconv.ParseInt(lasts, 10, 64)
		}
		if whole && err1 == nil && err2 == nil && err3 == nil {
			return driver.Status{
				Token:     token,
				Granted:   mark != "w",
				TTL:       time.Duration(lives) * time.Millisecond,
				Retry:     time.Duration(retry) * time.Millisecond,
				Contended: contended == "1",
				Revoked:   mark == "v",
			}, nil
		}
	}
	return driver.Status{}, fmt.Errorf("redis: the answer %q of a script cannot be understood", values)
}

// parseEntry reads 'FORMAT MARK TOKEN DEADLINE SINCE WEIGHT LIMIT TTL CHANNEL FLAGS LENGTH:OWNER VALUE'.
func parseEntry(name, id, record string, now int64) (driver.Entry, error) {
	f := strings.SplitN(record, " ", 11)
	if len(f) < 11 {
		return driver.Entry{}, badRecord(id)
	}
	var n [8]int64 // token, deadline, since, weight, limit, ttl, -, flags
	for i, at := range []int{2, 3, 4, 5, 6, 7, 9} {
		v, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return driver.Entry{}, badRecord(id)
		}
		n[i] = v
	}
	length, text, _ := strings.Cut(f[10], ":")
	owner, err := strconv.Atoi(length)
	if err != nil || owner < 0 || owner > len(text) {
		return driver.Entry{}, badRecord(id)
	}
	return driver.Entry{
		Claim: driver.Claim{
			Name: name, ID: id, Token: uint64(n[0]), Weight: n[3], Limit: n[4],
			TTL:   time.Duration(n[5]) * time.Millisecond,
			Queue: n[6]&flagQueue != 0, Detached: n[6]&flagDetached != 0,
			Owner: text[:owner], Value: text[owner:],
		},
		Granted: f[1] != "w",
		Since:   time.UnixMilli(n[2]),
		Left:    time.Duration(max(n[1]-now, 1)) * time.Millisecond,
	}, nil
}

func badRecord(id string) error {
	return fmt.Errorf("redis: the record of claim %s cannot be understood: %w", id, driver.ErrRefused)
}

// cutMore takes off what scripts add to an answer while there is more to do: it may change when one asks again.
func cutMore(values []string) (answer []string, more bool) {
	if len(values) == 0 {
		return values, false
	}
	text, more := strings.CutSuffix(values[0], " more")
	if !more {
		return values, false
	}
	return append([]string{text}, values[1:]...), true
}
