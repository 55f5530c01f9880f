package drivertest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

var revokeRows = []row{
	{
		name: "revoke",
		why:  "a revoked holder learns it from each answer, keeps the lock, and decides by itself",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			e.revokes(holder)
			for range 2 {
				if st := e.acquire(e.d, renewal(holder, held)); !st.Revoked {
					e.Error("Revoked is false after Revoke")
				}
			}
			e.enqueue(e.other, renewal(next, waiting))
			e.revokes(holder)
			got := e.handOver(holder, held, next, waiting)
			if st := e.acquire(e.other, renewal(next, got)); st.Revoked {
				e.Error("the next holder is revoked, though nobody asked for that")
			}
		},
		needs: does(driver.OpRevoke),
	},
	{
		name: "revoke nothing",
		why:  "ErrGone tells that there is no such claim, or that it is not granted",
		run: func(e *env) {
			holder, held, next, _ := e.contest()
			e.isGone(e.revokeErr(next), "revoking a claim that waits")
			e.isGone(e.revokeErr(e.claim()), "revoking a claim that never was")
			e.release(e.d, holder, held)
			e.isGone(e.revokeErr(holder), "revoking a claim that was released")
			if st := e.request(e.other, next); st.Revoked {
				e.Error("a claim is revoked, though that was refused")
			}
		},
		needs: does(driver.OpRevoke),
		exact: true,
	},
}

// revokeErr revokes c and returns the answer.
func (e *env) revokeErr(c driver.Claim) error {
	e.Helper()
	_, err := e.insist(func(ctx context.Context) error { return e.other.Revoke(ctx, c.Name, c.ID) })
	return err
}

// revokes revokes c, which must be granted.
func (e *env) revokes(c driver.Claim) {
	e.Helper()
	if err := e.revokeErr(c); err != nil {
		e.Fatalf("Revoke(%s): %v", c.ID, err)
	}
}
