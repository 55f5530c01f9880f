package claimstest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// An Unfollowed asks a driver what the test asks, and no more: nobody follows the claims that it requests.
type Unfollowed struct{ driver driver.Driver }

// Unfollow returns the driver behind a Facade as one that follows nothing.
func Unfollow(d *drivertest.Facade) Unfollowed { return Unfollowed{d.Unwrap()} }

// Request requests a claim.
func (u Unfollowed) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	r := u.do(ctx, driver.Op{Kind: driver.OpRequest, Claim: c})[0]
	return r.Status, r.Err
}

// Release releases a claim.
func (u Unfollowed) Release(ctx context.Context, c driver.Claim) error {
	return u.do(ctx, driver.Op{Kind: driver.OpRelease, Claim: c})[0].Err
}

// Renew renews claims, all in one batch.
func (u Unfollowed) Renew(ctx context.Context, claims []driver.Claim) []driver.Result {
	return claimed.Renew(ctx, u.driver, claims)
}

func (u Unfollowed) do(ctx context.Context, ops ...driver.Op) []driver.Result {
	results := make([]driver.Result, len(ops))
	u.driver.Do(ctx, ops, func(i int, r driver.Result) { results[i] = r })
	return results
}
