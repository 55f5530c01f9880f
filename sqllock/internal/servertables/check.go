package servertables

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	findings, err := run(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) ([]driver.Finding, error) {
		return health.Look(ctx, l.conn, d.dialect.facts)
	})
	if err != nil {
		return findings, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pooled, err := health.Pooled(ctx, d.endpoint.db, d.dialect.SessionID)
	if errors.Is(err, context.DeadlineExceeded) {
		return findings, nil // the caller's pool has no connections to spare
	}
	return append(findings, checkPooled(pooled)), err
}

// patience is how long a check waits for connections of the caller's pool.
const patience = 2 * time.Second

func checkPooled(pooled bool) driver.Finding {
	if !pooled {
		return driver.Finding{Fact: "a connection has a session of its own"}
	}
	return driver.Finding{
		Level: driver.Warning, Fact: "connections share sessions",
		Advice: "connect to the server itself, or to a proxy that keeps sessions apart: locks hold, " +
			"but who waits looks only now and then",
	}
}
