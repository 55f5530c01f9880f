package shedlock

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// breakClaim ends a claim by force. A program with ShedLock whose lock is taken from it is told nothing. A claim that
// waits may get the lock until its end is noted, and not after that, so it is freed once more.
func (d *Driver) breakClaim(ctx context.Context, name, id string) error {
	if err := d.refuse(name); err != nil {
		return err
	}
	if !driver.IsID(id) {
		return driver.ErrGone
	}
	v := values{claim: driver.Claim{Name: name, ID: id}, state: ended}
	scripts := []string{"free", "giveup", "free"}
	if since, isTheirs := strings.CutPrefix(id, theirs); isTheirs {
		at, err := strconv.ParseUint(since, 10, 63)
		if err != nil {
			return driver.ErrGone
		}
		v.claim.Token, scripts = at, []string{"seize"}
	}
	return d.with(ctx, func(conn conn) error {
		err := driver.ErrGone
		for _, what := range scripts {
			changed, failed := conn.do(ctx, what, v)
			if failed != nil {
				return failed
			}
			if changed {
				err = nil
			}
		}
		return err
	})
}
