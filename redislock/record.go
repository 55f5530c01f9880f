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

// about writes the part of a stored claim that comes from the client: 'WEIGHT LIMIT TTL CHANNEL FLAGS LENGTH:OWNER
// VALUE'. CHANNEL is the address at which the client listens.
func about(c driver.Claim, ttl int64, address string) string {
	flags := 0
	if c.Queue {
		flags |= flagQueue
	}
	if c.Detached {
		flags |= flagDetached
	}
	var room [160]byte // on the stack, so that only the text is allocated
	b := room[:0]
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

// tokenDigits is how many digits tokens have in records and requests: with the same length their order as texts is
// their order as numbers, which lets scripts compare them without loss.
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

// An answer is what scripts say of a claim: 'MARK TOKEN RETRY CONTENDED', perhaps with ' left ' and what is left of
// its TTL behind it.
type answer struct {
	mark      string // "g" is granted, "v" granted and revoked, "w" waits
	token     uint64
	retry     int64 // ms
	contended bool
	left      int64 // ms, or -1 where the answer does not say
}

// parseAnswer reads an answer, and reports whether it is one.
func parseAnswer(text string) (a answer, ok bool) {
	text, left, isLeft := strings.Cut(text, " left ")
	f := fields{rest: text}
	a.mark, a.token, a.retry = f.word(), f.unsigned(), f.number()
	a.contended, a.left = f.rest == "1", -1
	if isLeft {
		a.left = f.parse(left)
	}
	return a, !f.bad
}

// status is what the answer means for a claim that asked for a TTL.
func (a answer) status(ttl time.Duration) driver.Status {
	lives := driver.Milliseconds(ttl)
	if a.left >= 0 {
		lives = a.left
	}
	return driver.Status{
		Token:     a.token,
		Granted:   a.mark != "w",
		TTL:       time.Duration(lives) * time.Millisecond,
		Retry:     time.Duration(a.retry) * time.Millisecond,
		Contended: a.contended,
		Revoked:   a.mark == "v",
	}
}

// parseStatus reads an answer about a claim that asked for a TTL.
func parseStatus(values []string, ttl time.Duration) (driver.Status, error) {
	if len(values) == 1 && values[0] == "gone" {
		return driver.Status{}, driver.ErrGone
	}
	if len(values) == 1 {
		if a, ok := parseAnswer(values[0]); ok {
			return a.status(ttl), nil
		}
	}
	return driver.Status{}, fmt.Errorf("redis: a script returned the unexpected answer %q", values)
}

// A record is a claim as scripts store it: 'FORMAT MARK TOKEN DEADLINE SINCE WEIGHT LIMIT TTL CHANNEL FLAGS
// LENGTH:OWNER VALUE'. The owner's length says where the value begins: both may hold anything.
type record struct {
	format        string
	mark          string // as in an answer: "w" waits
	token         int64
	deadline      int64 // ms since 1970, by the server's clock
	since         int64 // ms since 1970
	weight, limit int64
	ttl           int64 // ms
	channel       string
	flags         int64
	owner, value  string
}

// parseRecord reads a record, and reports whether it is one.
func parseRecord(text string) (r record, ok bool) {
	f := fields{rest: text}
	r.format, r.mark = f.word(), f.word()
	r.token, r.deadline, r.since = f.number(), f.number(), f.number()
	r.weight, r.limit, r.ttl = f.number(), f.number(), f.number()
	r.channel, r.flags = f.word(), f.number()
	r.owner, r.value = f.counted()
	return r, !f.bad
}

// entry is the claim as others see it, when the server's clock shows now.
func (r record) entry(name, id string, now int64) driver.Entry {
	return driver.Entry{
		Claim: driver.Claim{
			Name: name, ID: id, Token: uint64(r.token), Weight: r.weight, Limit: r.limit,
			TTL:   time.Duration(r.ttl) * time.Millisecond,
			Queue: r.flags&flagQueue != 0, Detached: r.flags&flagDetached != 0,
			Owner: r.owner, Value: r.value,
		},
		Granted: r.mark != "w",
		Since:   time.UnixMilli(r.since),
		Left:    time.Duration(max(r.deadline-now, 1)) * time.Millisecond,
	}
}

// parseEntry reads the record of a claim.
func parseEntry(name, id, text string, now int64) (driver.Entry, error) {
	r, ok := parseRecord(text)
	if !ok {
		return driver.Entry{}, badRecord(id)
	}
	return r.entry(name, id, now), nil
}

func badRecord(id string) error {
	return fmt.Errorf("redis: the record of claim %s is damaged: %w", id, driver.ErrRefused)
}

// cutMore takes off what scripts add to an answer while there is more to do. The answer may change when one asks
// again.
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
