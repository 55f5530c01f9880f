// Package pgxpool has the names of the real one that the checks go by.
package pgxpool

import "context"

type Pool struct{}

func (*Pool) Exec(ctx context.Context, sql string, arguments ...any) (any, error) { return nil, nil }
