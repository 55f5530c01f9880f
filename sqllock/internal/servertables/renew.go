package servertables

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// renewAll renews those claims of a batch that are only to be kept alive.
func (d *Driver) renewAll(
	ctx context.Context, batch []driver.Op, places []int, answer func(int, driver.Result),
) {
	claims := make([]driver.Claim, len(places))
	for k, i := range places {
		claims[k] = batch[i].Claim
	}
	d.renew(ctx, claims, func(k int, r driver.Result) { answer(places[k], r) })
}

// renew renews claims in one statement. It uses connections of its own, so that leases do not wait for requests; and a
// claim whose row somebody has locked does not keep the others waiting: that one alone is answered with an error.
func (d *Driver) renew(ctx context.Context, claims []driver.Claim, answer func(int, driver.Result)) {
	answers, err := d.inquire(ctx, d.renewals, claims, true)
	if err != nil {
		for i := range claims {
			answer(i, driver.Result{Err: err})
		}
		return
	}
	d.extendSkipped(ctx, claims, answers)
	var bare []driver.Claim
	for i, a := range answers {
		r := driver.Result{Status: a.status, Err: a.err()}
		d.settle(claims[i], a)
		switch {
		case a.outcome == isThere && !a.alone && len(bare) < retakeMost && d.requests.lacksWakeLocks(claims[i].ID):
			bare = append(bare, claims[i])
			bare[len(bare)-1].Token = a.status.Token
		case a.outcome == nothing:
			r.Err = errRowLocked
		case a.outcome == isGone && claims[i].Token == 0: // it may not have been queued yet
			r.Status, r.Err = d.request(ctx, claims[i])
		}
		answer(i, r)
	}
	d.retake(bare)
}

// Requests and sweeps of other clients lock a row for a moment, and transactions of somebody else may do so for long. A
// claim whose row is locked is asked about again for this part of the shortest TTL, and no longer than skippedMost.
const (
	skippedPart = 100
	skippedMost = 2 * time.Second
)

// extendSkipped renews the claims that were skipped, as soon as their rows are free, and puts in their answers. Those
// that stay skipped, or about which nothing is answered any more, keep theirs.
func (d *Driver) extendSkipped(ctx context.Context, claims []driver.Claim, answers []answer) {
	patience := skippedMost
	for _, c := range claims {
		patience = min(patience, c.TTL/skippedPart)
	}
	pace := server.Pace()
	for began := time.Now(); ; {
		var skipped []driver.Claim
		var places []int
		for i, a := range answers {
			if a.outcome == nothing {
				skipped, places = append(skipped, claims[i]), append(places, i)
			}
		}
		if len(skipped) == 0 || time.Since(began) > patience || pace.Pause(ctx) != nil {
			return
		}
		again, err := d.inquire(ctx, d.renewals, skipped, true)
		if err != nil {
			return
		}
		for i, place := range places {
			answers[place] = again[i]
		}
	}
}

// inquire asks about many claims in one round trip, and with extend renews what it can without waiting for rows that
// others have locked. The claims are in one order, so that no two inquiries wait for each other.
func (d *Driver) inquire(ctx context.Context, p *pool, claims []driver.Claim, extend bool) ([]answer, error) {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(claims[a].Name, claims[b].Name), cmp.Compare(claims[a].Token, claims[b].Token))
	})
	lines := make([]string, len(claims))
	for n, i := range order {
		c := &claims[i]
		lines[n] = fmt.Sprintf("%s %s %d %d", hex.EncodeToString([]byte(c.Name)), c.ID, c.Token, asked(*c))
	}
	args := []any{strings.Join(lines, "\n"), extend}
	return run(ctx, p, affinity{}, func(ctx context.Context, l *lane) ([]answer, error) {
		answers, n := make([]answer, len(claims)), 0
		err := l.conn.rows(ctx, "renew", args, func(scan func(...any) error) (err error) {
			if n < len(order) {
				answers[order[n]], err = readAnswer(scan)
			}
			n++
			return err
		})
		if err == nil && n != len(claims) {
			err = fmt.Errorf("%d answers about %d claims", n, len(claims))
		}
		return answers, err
	})
}
