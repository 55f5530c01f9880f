package sqlite

import (
	"context"
	"errors"
)

// A power failure takes the last commits that have not waited for the disk, and none without all that came after it.
// Most of what is here ends with the boot anyway, so its commits need not wait. These do:
//
//   - of detached claims: that they come, are renewed, granted and revoked, and that they end, since one that came back
//     could be resumed, though others have had the lock meanwhile;
//   - of values, and of what is noted of a boot;
//   - of tokens above the floor: see token.

// errLasts ends a transaction that did not begin as one that waits for the disk, and has to.
var errLasts = errors.New("sqllock: what a transaction changes has to outlive the boot")

// asNeeded runs a transaction, which waits for the disk only where it says that it has to.
func (c *connection) asNeeded(ctx context.Context, once func() error) error {
	err := c.wait(ctx, !c.mayLag, once)
	if errors.Is(err, errLasts) {
		return c.wait(ctx, true, once)
	}
	return err
}

// wait runs a transaction, at the end of which SQLite waits for the disk, or does not.
func (c *connection) wait(ctx context.Context, forDisk bool, once func() error) error {
	if forDisk != c.waits {
		level := map[bool]string{true: "FULL", false: "NORMAL"}[forDisk]
		if _, err := c.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = "+level); err != nil {
			return uncommitted(err)
		}
		c.waits = forDisk
	}
	return once()
}

// outlives notes that a transaction changes a claim, which may be one that outlives the boot.
func (t *tx) outlives(r row) { t.lasts = t.lasts || r.Detached }

// ready is the end of a transaction before its commit.
func (t *tx) ready() error {
	if t.lasts && !t.d.conn.waits {
		return errLasts
	}
	return nil
}
