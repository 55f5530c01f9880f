package claims

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Request implements [driver.Driver].
func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := run(ctx, d.session, func(ctx context.Context, conn *conn) (driver.Status, error) {
		bells := &d.session.bells
		hang := bells.wanted(c.ID)
		a, err := conn.ask(ctx, requestClaim, []byte(c.Name), c.ID, int64(c.Token), c.Weight, c.Limit, micros(c.TTL),
			c.Queue, []byte(c.Owner), []byte(c.Value), hang)
		if err != nil {
			return driver.Status{}, err
		}
		d.sweeper.wrote.Store(true)
		bells.answered(c, hang, a)
		return a.status, a.err()
	})
	d.posts.answered(c, st, err)
	return st, err
}

// Renew implements [driver.Renewer].
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	answers, err := d.inquire(ctx, claims, true)
	if err != nil {
		return nil, err
	}
	results := make([]driver.Result, len(claims))
	for i, a := range answers {
		r := driver.Result{Status: a.status, Err: a.err()}
		if a.verdict == isGone && claims[i].Token == 0 { // it may not have been queued yet
			r.Status, r.Err = d.Request(ctx, claims[i])
		}
		d.posts.answered(claims[i], r.Status, r.Err)
		results[i] = r
	}
	return results, nil
}

// inquire asks about many claims in one round trip, and renews them if extend is true. Claims are taken in one order, so
// that no two inquiries wait for each other.
func (d *Driver) inquire(ctx context.Context, claims []driver.Claim, extend bool) ([]answer, error) {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(claims[a].Name, claims[b].Name), cmp.Compare(claims[a].Token, claims[b].Token))
	})
	return run(ctx, d.session, func(ctx context.Context, conn *conn) ([]answer, error) {
		answers := make([]answer, len(claims))
		lines, hang, n := &strings.Builder{}, make([]bool, len(claims)), 0
		for _, i := range order {
			hang[i] = extend && d.session.bells.wanted(claims[i].ID)
			writeLine(lines, claims[i], hang[i])
		}
		err := conn.rows(ctx, renewClaims, []any{strings.TrimSuffix(lines.String(), "\n"), extend}, func(scan func(...any) error) (err error) {
			if n < len(order) {
				answers[order[n]], err = readAnswer(scan)
			}
			n++
			return err
		})
		if err == nil && n != len(claims) {
			err = fmt.Errorf("%d answers about %d claims", n, len(claims))
		}
		if err != nil {
			return nil, err
		}
		for i, a := range answers {
			d.session.bells.answered(claims[i], hang[i], a)
		}
		return answers, nil
	})
}

// writeLine writes a claim as the routine reads it.
func writeLine(b *strings.Builder, c driver.Claim, hang bool) {
	bell := 0
	if hang {
		bell = 1
	}
	fmt.Fprintf(b, "%s %s %d %d %d\n", hex.EncodeToString([]byte(c.Name)), c.ID, c.Token, micros(c.TTL), bell)
}
