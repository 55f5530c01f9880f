package claims

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A fact is a question to the server, and what its answer means.
type fact struct {
	query string
	judge func(value string) driver.Finding
}

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	return run(ctx, d.session, func(ctx context.Context, conn *conn) (findings []driver.Finding, err error) {
		for _, f := range d.dialect.facts() {
			var value string
			switch err := conn.QueryRowContext(ctx, f.query).Scan(&value); {
			case err == nil:
				findings = append(findings, f.judge(value))
			case dbms.Code(err) == "":
				return nil, err
			} // otherwise this server has no such setting
		}
		return findings, nil
	})
}

func mysqlFacts() []fact    { return nil }
func postgresFacts() []fact { return nil }
