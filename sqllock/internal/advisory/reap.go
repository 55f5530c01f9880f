package advisory

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// Reap implements [driver.Reaper]. It does at once what clients do bit by bit when they release.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	s, err := d.openToLook(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for more := true; more && err == nil; {
		more = false
		var found []leftover
		found, err = s.leftovers(ctx, age)
		for _, f := range found {
			dropped, failed := s.drop(ctx, f, age)
			more, err = more || dropped, errors.Join(err, failed)
			if dropped && f.tell {
				removed = append(removed, driver.Leftover{Kind: f.kind, Name: strings.TrimPrefix(f.row, rawRows)})
			}
		}
	}
	return removed, err
}

// A leftover is a row that nobody needs, and whether Reap reports it.
type leftover struct {
	kind, row, id string
	tell          bool
}

func (s *session) leftovers(ctx context.Context, age time.Duration) (found []leftover, err error) {
	statement := s.driver.dialect.statements("leftovers", values{keep: age})[0]
	err = s.Each(ctx, statement, func(rows *sql.Rows) error {
		var f leftover
		err := rows.Scan(&f.kind, &f.row, &f.id, &f.tell)
		found = append(found, f)
		return err
	})
	return found, err
}

// drop removes one row, unless it is needed again or somebody else has locked it.
func (s *session) drop(ctx context.Context, f leftover, age time.Duration) (dropped bool, err error) {
	v := values{row: f.row, claim: driver.Claim{ID: f.id}, keep: age}
	for _, statement := range s.driver.dialect.statements("drop", v) {
		result, err := s.ExecContext(ctx, statement)
		if server.InTheWay(err) {
			continue
		}
		if err != nil {
			return dropped, explain(err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return dropped, err
		}
		dropped = dropped || n > 0
	}
	return dropped, nil
}

var _ driver.Reaper = (*Driver)(nil)
