package advisory

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]. It does at once what clients do bit by bit when they release.
func (d *Driver) Reap(ctx context.Context, age time.Duration) ([]driver.Leftover, error) {
	s, err := d.openToLook(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	claims, err := s.reap(ctx, "expired claim", oldClaims, dropClaim, age)
	if err != nil {
		return claims, err
	}
	tokens, err := s.reap(ctx, "last token", oldTokens, dropToken, age)
	return append(claims, tokens...), err
}

// reap removes with one script what another one finds, until there is nothing left that it can remove.
func (s *session) reap(
	ctx context.Context, kind string, find, drop script, age time.Duration,
) (removed []driver.Leftover, err error) {
	for {
		found, err := s.find(ctx, find, values{keep: age})
		dropped := false
		for _, f := range found {
			done, failed := s.drop(ctx, drop, values{keep: age, claim: f.claim, row: f.row})
			err = errors.Join(err, failed)
			dropped = dropped || done
			if done && f.told {
				removed = append(removed, driver.Leftover{Kind: kind, Name: f.claim.Name})
			}
		}
		if err != nil || !dropped {
			return removed, err
		}
	}
}

// A leftover is a row that nobody needs, and whether Reap reports it.
type leftover struct {
	row   string // the name in it
	claim driver.Claim
	told  bool
}

func (s *session) find(ctx context.Context, what script, v values) (found []leftover, err error) {
	rows, err := s.conn.QueryContext(ctx, s.dialect.statements(what, v)[0])
	if err != nil {
		return nil, s.dialect.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var f leftover
		if err := rows.Scan(&f.row, &f.claim.ID, &f.told); err != nil {
			return nil, err
		}
		f.claim.Name = strings.TrimPrefix(f.row, rawRows)
		found = append(found, f)
	}
	return found, s.dialect.explain(rows.Err())
}

// drop removes one row, unless it is needed again or somebody else has locked it.
func (s *session) drop(ctx context.Context, what script, v values) (done bool, err error) {
	result, err := s.conn.ExecContext(ctx, s.dialect.statements(what, v)[0])
	if err != nil && s.dialect.isBusy(err) {
		return false, nil
	}
	if err != nil {
		return false, s.dialect.explain(err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

var _ driver.Reaper = (*Driver)(nil)
