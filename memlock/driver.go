package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// once does one operation for the methods of [driver.Driver] and its abilities.
func (d *Driver) once(ctx context.Context, op driver.Op) driver.Result {
	if err := ctx.Err(); err != nil {
		return driver.Result{Err: err}
	}
	return d.do(&op)
}

func claimNamed(name, id string) driver.Claim { return driver.Claim{Name: name, ID: id} }

// Request implements [driver.Driver].
func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	r := d.once(ctx, driver.Op{Kind: driver.OpRequest, Claim: c})
	return r.Status, r.Err
}

// Release implements [driver.Driver].
func (d *Driver) Release(ctx context.Context, c driver.Claim) error {
	return d.once(ctx, driver.Op{Kind: driver.OpRelease, Claim: c}).Err
}

// Queue implements [driver.Driver].
func (d *Driver) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return d.Peek(ctx, name, 0)
}

// Peek implements [driver.Peeker].
func (d *Driver) Peek(ctx context.Context, name string, n int) ([]driver.Entry, error) {
	r := d.once(ctx, driver.Op{Kind: driver.OpQueue, Claim: claimNamed(name, ""), Most: n})
	return r.Queue, r.Err
}

// Renew implements [driver.Renewer].
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	for i, c := range claims {
		results[i].Status, results[i].Err = d.Request(ctx, c)
	}
	return results, ctx.Err()
}

// Break implements [driver.Breaker].
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.once(ctx, driver.Op{Kind: driver.OpBreak, Claim: claimNamed(name, id)}).Err
}

// Revoke implements [driver.Revoker].
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.once(ctx, driver.Op{Kind: driver.OpRevoke, Claim: claimNamed(name, id)}).Err
}

// Propose implements [driver.Proposer].
func (d *Driver) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, error) {
	st, _, err := d.Vote(ctx, c, token)
	return st, err
}

// Vote implements [driver.Voter].
func (d *Driver) Vote(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	r := d.once(ctx, driver.Op{Kind: driver.OpPropose, Claim: c, Token: token})
	return r.Status, r.Life, r.Err
}

// Life implements [driver.Living].
func (d *Driver) Life(ctx context.Context) (driver.Life, error) {
	r := d.once(ctx, driver.Op{Kind: driver.OpLife})
	return r.Life, r.Err
}

// Value implements [driver.ValueStore].
func (d *Driver) Value(ctx context.Context, name string) (driver.Value, error) {
	r := d.once(ctx, driver.Op{Kind: driver.OpValue, Claim: claimNamed(name, "")})
	return r.Value, r.Err
}

// SetValue implements [driver.ValueStore].
func (d *Driver) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return d.once(ctx, driver.Op{Kind: driver.OpSetValue, Claim: c, Value: v}).Err
}

// Identity implements [driver.Identifier].
func (d *Driver) Identity() string { return d.store.identity() }
