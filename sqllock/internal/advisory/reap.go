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

// Whether nobody has the lock of a row of holdfast_sessions: it was released, or the server says so. A row's name tells
// of which layout the lock is, because who sweeps in one layout meets the rows of both.
const (
	mysqlFree = "(id = '' OR IS_FREE_LOCK(IF(LEFT(name, 5) = x'0072617700'," +
		" CONVERT(SUBSTRING(name, 6) USING utf8mb4)," +
		" CONCAT('hf:', LEFT(SHA2(CONCAT(DATABASE(), '/', SHA2(name, 256)), 256), 60)))))"
	postgresFree = "(id = '' OR NOT EXISTS(SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1" +
		" AND l.granted AND " + ofThisDatabase + " AND (l.classid::bigint << 32) | l.objid::bigint =" +
		" CASE WHEN substring(name FOR 5) = '\\x0072617700' AND " + postgresText + " ~ '^-?[0-9]+$'" +
		" THEN " + postgresText + "::numeric" +
		" ELSE ('x' || encode(substring(sha256('holdfast\\000'::bytea || name) FOR 8), 'hex'))::bit(64)::bigint END))"
	postgresText = "encode(substring(name FROM 6), 'escape')" // of a lock that is the server's own
)

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
