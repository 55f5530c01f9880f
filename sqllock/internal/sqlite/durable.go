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

// These are levels of PRAGMA synchronous, at which commits wait for the disk, or do not.
const (
	full   = "FULL"
	normal = "NORMAL"
)

// asNeeded runs a transaction, which waits for the disk only where it says that it has to.
func (c *connection) asNeeded(ctx context.Context, once func() error) error {
	if c.mayLag {
		if err := c.synchronize(ctx, normal, once); !errors.Is(err, errLasts) {
			return err
		}
	}
	return c.synchronize(ctx, full, once)
}

func (c *connection) synchronize(ctx context.Context, level string, once func() error) error {
	if level != c.synchronous {
		if _, err := c.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = "+level); err != nil {
			return uncommitted(err)
		}
		c.synchronous = level
	}
	return once()
}

// outlives notes that a transaction changes a claim, which may be one that outlives the boot.
func (t *tx) outlives(r row) { t.lasts = t.lasts || r.Detached }
