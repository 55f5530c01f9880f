package proof

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A Count is a transaction that is a lock, and counts a number in its database on by one.
type Count struct {
	Visitor      int
	Lock         string
	Call, Return time.Duration
	Value        int64 // that it wrote
	Fate         Fate
}

// A Fate is what became of a transaction.
type Fate string

const (
	Committed Fate = "committed"
	Undone    Fate = "undone"
	Unknown   Fate = "unknown" // it may be either
)

// transact counts the number of a lock on.
func (v *visitor) transact(s Step) {
	c := &Count{Visitor: v.Visitor, Lock: s.Lock, Call: now(), Fate: Unknown}
	v.tell(told{Counts: c})
	ctx, cancel := context.WithTimeout(context.Background(), max(s.Within, v.TTL/4))
	defer cancel()
	err := v.count(ctx, c, s.Stays)
	c.Return = now()
	switch {
	case err == nil:
		c.Fate = Committed
	case !errors.Is(err, holdfast.ErrUnknown):
		c.Fate = Undone
	}
	v.tell(told{Counted: c})
}

func (v *visitor) count(ctx context.Context, c *Count, stays time.Duration) (err error) {
	if v.database == nil {
		if v.database, err = sql.Open(v.Database.Driver, v.Database.Source); err != nil {
			return err
		}
	}
	return sqllock.InTx(ctx, v.database, c.Lock, func(ctx context.Context, tx *sql.Tx) error {
		n, err := numberOf(ctx, tx, c.Lock)
		if err != nil {
			return err
		}
		time.Sleep(stays) // what a transaction does
		c.Value = n + 1
		statement := fmt.Sprintf("UPDATE proof_numbers SET n = %d WHERE lock_name = '%s'", c.Value, c.Lock)
		_, err = tx.ExecContext(ctx, statement)
		return err
	})
}
