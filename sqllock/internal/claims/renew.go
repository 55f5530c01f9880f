package claims

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// errRowTaken is about a claim that could not be renewed now.
var errRowTaken = errors.New("somebody else has locked its row for long")

// Renew implements [driver.Renewer]. It uses a connection of its own, so that leases do not wait for requests; and a claim whose
// row somebody has locked does not keep the others waiting: for that one alone it returns an error.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	answers, err := d.inquire(ctx, d.renewals, claims, true)
	if errors.Is(err, errNoRoom) {
		answers, err = d.inquire(ctx, d.session, claims, true)
	}
	if err != nil {
		return nil, err
	}
	d.mendBells(claims, answers)
	results := make([]driver.Result, len(claims))
	for i, a := range answers {
		r := driver.Result{Status: a.status, Err: a.err()}
		switch {
		case a.verdict == nothing:
			r.Err = errRowTaken
		case a.verdict == isGone && claims[i].Token == 0: // it may not have been queued yet
			r.Status, r.Err = d.Request(ctx, claims[i])
		}
		d.posts.answered(claims[i], r.Status, r.Err)
		results[i] = r
	}
	return results, nil
}

// inquire asks about many claims in one round trip, and renews them if extend is true. Claims are taken in one order, so
// that no two inquiries wait for each other.
func (d *Driver) inquire(ctx context.Context, s *session, claims []driver.Claim, extend bool) ([]answer, error) {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(claims[a].Name, claims[b].Name), cmp.Compare(claims[a].Token, claims[b].Token))
	})
	return run(ctx, s, func(ctx context.Context, conn *conn) ([]answer, error) {
		answers := make([]answer, len(claims))
		lines, hang, n := &strings.Builder{}, make([]bool, len(claims)), 0
		for _, i := range order {
			hang[i] = extend && s == d.session && s.bells.wanted(claims[i].ID)
			writeLine(lines, claims[i], hang[i])
		}
		args := []any{strings.TrimSuffix(lines.String(), "\n"), extend}
		err := conn.rows(ctx, renewClaims, args, func(scan func(...any) error) (err error) {
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
		if s == d.session {
			s.bells.noted(claims, hang, answers)
		}
		return answers, nil
	})
}

// mendBells lets the connection of the requests, where bells hang, do what renewals on another one have shown to be missing:
// hang up those that fell with an earlier connection, and ring those of claims that are over. Renewals do not wait for that.
func (d *Driver) mendBells(claims []driver.Claim, answers []answer) {
	if d.renewals == d.session {
		return
	}
	var bare []driver.Claim
	var over []int
	for i, c := range claims {
		switch hangs := d.session.bells.hanging(c.ID) > 0; {
		case answers[i].verdict == isThere && !hangs && d.session.bells.wanted(c.ID):
			bare = append(bare, c)
		case hangs && d.session.bells.isWrong(c.ID, answers[i]):
			over = append(over, i)
		}
	}
	if len(bare)+len(over) == 0 || !d.mending.CompareAndSwap(false, true) {
		return
	}
	started := d.posts.inBackground(d.session.open, func() {
		defer d.mending.Store(false)
		inTurn(d.session.open, d.session, func(context.Context, *conn) error {
			for _, i := range over {
				d.session.bells.answered(claims[i], false, answers[i])
			}
			return nil
		})
		if len(bare) > 0 {
			d.inquire(d.session.open, d.session, bare, true)
		}
	})
	if !started {
		d.mending.Store(false)
	}
}

// writeLine writes a claim as the routine reads it.
func writeLine(b *strings.Builder, c driver.Claim, hang bool) {
	bell := 0
	if hang {
		bell = 1
	}
	fmt.Fprintf(b, "%s %s %d %d %d\n", hex.EncodeToString([]byte(c.Name)), c.ID, c.Token, asked(c), bell)
}
