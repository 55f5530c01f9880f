package servertables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// doTogether requests and releases claims in one statement. It returns the places of those about which it did nothing,
// since others wait for their locks, or have their rows locked, or there is no row yet.
func (d *Driver) doTogether(
	ctx context.Context, batch []driver.Op, places []int, answer func(int, driver.Result),
) (left []int) {
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(batch[a].Claim.Name, batch[b].Claim.Name) })
	tokens, err := d.tokensTogether(ctx, batch, places)
	for k, i := range places {
		switch {
		case err != nil:
			answer(i, driver.Result{Err: err})
		case tokens[k] == 0:
			left = append(left, i)
		default:
			answer(i, d.doneTogether(&batch[i], tokens[k]))
		}
	}
	return left
}

// tokensTogether returns the tokens of the claims that were requested or released. The others have 0.
func (d *Driver) tokensTogether(ctx context.Context, batch []driver.Op, places []int) ([]uint64, error) {
	text := written(batch, places)
	tokens, err := attempt(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) ([]uint64, error) {
		tokens := make([]uint64, len(places))
		err := l.conn.rows(ctx, "together", []any{text}, func(scan func(...any) error) error {
			var place, token int64
			err := scan(&place, &token)
			if err == nil && place > 0 && place <= int64(len(tokens)) {
				tokens[place-1] = uint64(token)
			}
			return err
		})
		return tokens, err
	})
	d.sweeper.wrote.Store(true)
	if err != nil && dbms.Code(err) != "" { // the server says that nothing was done, maybe because of one of them
		err = fmt.Errorf("%w: %w", driver.ErrBatchRejected, err)
	}
	return tokens, err
}

// doneTogether is the result of an operation that was done.
func (d *Driver) doneTogether(op *driver.Op, token uint64) (r driver.Result) {
	if op.Kind == driver.OpRelease {
		d.following.forget(op.Claim)
		return r
	}
	r.Status = driver.Status{Token: token, Granted: true, TTL: fromMicros(micros(op.Claim.TTL))}
	return r
}

// A writtenClaim is a claim as the routine reads it.
type writtenClaim struct {
	Name   string `json:"n"`
	ID     string `json:"i"`
	Before string `json:"f,omitempty"`
	Token  uint64 `json:"t"`
	Weight int64  `json:"w,omitempty"`
	Limit  int64  `json:"u,omitempty"`
	TTL    int64  `json:"l,omitempty"`
	Owner  string `json:"o"`
	Value  string `json:"v"`
}

// written writes claims as the routine reads them.
func written(batch []driver.Op, places []int) string {
	claims := make([]writtenClaim, len(places))
	for k, i := range places {
		c := &batch[i].Claim
		w := &claims[k]
		w.Name, w.ID, w.Token = hex.EncodeToString([]byte(c.Name)), c.ID, c.Token
		if c.Token == 0 {
			w.Before = driver.SeriesStart(c.ID)
			w.Weight, w.Limit, w.TTL = c.Weight, c.Limit, micros(c.TTL)
			w.Owner, w.Value = hex.EncodeToString([]byte(c.Owner)), hex.EncodeToString([]byte(c.Value))
		}
	}
	text, _ := json.Marshal(claims) // of texts and numbers
	return string(text)
}
