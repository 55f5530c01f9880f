package shedlock

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements [driver.Breaker]. A program with ShedLock whose lock is taken from it is told nothing.
func (d *Driver) Break(ctx context.Context, name, id string) error {
	if err := d.refuse(name); err != nil {
		return err
	}
	if !claimID.MatchString(id) {
		return driver.ErrGone
	}
	v := values{claim: driver.Claim{Name: name, ID: id}, state: ended}
	scripts := []script{freeLock, giveUp}
	if since, isTheirs := strings.CutPrefix(id, theirs); isTheirs {
		at, err := strconv.ParseUint(since, 10, 63)
		if err != nil {
			return driver.ErrGone
		}
		v.claim.Token, scripts = at, []script{seizeLock}
	}
	return d.with(ctx, func(conn conn) error {
		for _, what := range scripts {
			if done, err := conn.do(ctx, what, v); err != nil || done {
				return err
			}
		}
		return driver.ErrGone
	})
}

var _ driver.Breaker = (*Driver)(nil)
