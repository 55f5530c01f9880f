package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// value reads what a lock keeps between its holders.
func (d *Driver) value(ctx context.Context, name string) (driver.Value, error) {
	return run(ctx, d.requests, affinity{name: name}, func(ctx context.Context, l *lane) (driver.Value, error) {
		return one(ctx, l.conn, "value", scanValue, []byte(name))
	})
}

func scanValue(scan func(...any) error) (driver.Value, error) {
	var token, set int64
	var text []byte
	err := scan(&token, &set, &text)
	return driver.Value{Text: string(text), Token: uint64(token), Set: time.UnixMicro(set)}, err
}

// setValue sets what a lock keeps between its holders.
func (d *Driver) setValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return d.change(ctx, c.Name, func(ctx context.Context, l *lane) error {
		n, err := l.conn.number(ctx, "set",
			[]byte(c.Name), c.ID, int64(c.Token), int64(v.Token), v.Set.UnixMicro(), []byte(v.Text))
		switch {
		case err != nil:
			return err
		case n == 1:
			return driver.ErrGone
		case n == 2:
			return driver.ErrOlderValue
		}
		return nil
	})
}
