package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Renew implements [driver.Renewer].
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	for i, c := range claims {
		results[i].Status, results[i].Err = d.Request(ctx, c)
	}
	return results, ctx.Err()
}
