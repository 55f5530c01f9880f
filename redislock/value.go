package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// keysOfValue is how many keys the script has that sets a value: those of the lock, and the value.
const keysOfValue = keysOfLock + 1

// value returns what a holder has set last.
func (d *native) value(ctx context.Context, name string) (driver.Value, error) {
	k, err := d.keys.of(name)
	if err != nil {
		return driver.Value{}, err
	}
	values, err := d.scripts.value.run(ctx, d.conn, []string{k.value}, nil)
	switch {
	case err != nil:
		return driver.Value{}, err
	case len(values) != 1:
		return driver.Value{}, errNotUnderstood
	case values[0] == "":
		return driver.Value{}, nil
	}
	return parseValue(values[0])
}

// settingValue returns the script that sets a value.
func (d *native) settingValue(c driver.Claim, v driver.Value) (o operation, err error) {
	if err := driver.Validate(c, d.Traits()); err != nil {
		return o, err
	}
	if len(v.Text) > driver.MaxValue {
		return o, fmt.Errorf("%w: the value has %d bytes, and a lock keeps at most %d", driver.ErrRefused, len(v.Text),
			driver.MaxValue)
	}
	k, err := d.keys.of(c.Name)
	if err != nil {
		return o, err
	}
	return operation{
		script: &d.scripts.setValue,
		keys:   append(k.all()[:keysOfLock:keysOfLock], k.value),
		args: []string{
			c.ID, tokenText(c.Token), wide(v.Token), wide(uint64(max(v.Set.UnixMicro(), 0))), v.Text,
			msText(max(d.keep.usual, keepTTLs*c.TTL)),
		},
	}, nil
}

// valueSet reads what set_value.lua answers.
func valueSet(values []string, err error) error {
	switch {
	case err != nil:
		return err
	case len(values) == 1 && values[0] == "old":
		return driver.ErrOlderValue
	}
	return done(values)
}

// wideDigits is how many digits any number of 64 bits has room in.
const wideDigits = 20

// wide writes a number so that the order of texts is that of numbers.
func wide(n uint64) string { return fmt.Sprintf("%0*d", wideDigits, n) }

// parseValue reads a record of set_value.lua.
func parseValue(record string) (v driver.Value, err error) {
	version, rest, _ := strings.Cut(record, " ")
	if version != strconv.Itoa(format) {
		return v, explain(ReplyError("HOLDFASTVERSION " + version))
	}
	const textAt = 2 * (wideDigits + 1)
	if len(rest) < textAt {
		return v, fmt.Errorf("%w: the value of the lock is damaged; set it again", driver.ErrRefused)
	}
	if rest[textAt:] == "" { // removed
		return v, nil
	}
	token, errToken := strconv.ParseUint(rest[:wideDigits], 10, 64)
	set, errSet := strconv.ParseInt(rest[wideDigits+1:textAt-1], 10, 64)
	if errToken != nil || errSet != nil {
		return v, fmt.Errorf("%w: the value of the lock is damaged; set it again", driver.ErrRefused)
	}
	return driver.Value{Text: rest[textAt:], Token: token, Set: time.UnixMicro(set)}, nil
}
