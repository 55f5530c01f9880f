package advisory

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	findings := []driver.Finding{{Fact: "a connection has a session of its own"}}
	switch err := d.probe(ctx); {
	case errors.Is(err, ErrPooled):
		findings[0] = driver.Finding{Level: driver.Unsafe, Fact: "connections share sessions", Advice: err.Error()}
	case err != nil:
		return nil, err
	}
	s, err := d.openToLook(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	begin := time.Now()
	var now int64
	if err := s.row(ctx, "SELECT "+d.dialect.now, []any{&now}); err != nil {
		return nil, d.dialect.explain(err)
	}
	findings = append(findings, driver.CompareClocks(time.UnixMicro(now), begin, time.Now()))
	facts, err := health.Look(ctx, s.conn, d.dialect.facts)
	return append(findings, facts...), err
}

const keepTimeout = "let the proxy keep SET SESSION: otherwise the lock of a client that was cut off stays taken" +
	" for as long as the server keeps idle sessions"

// onePrimary is whether a server that is set up for group replication has a group with one primary.
const onePrimary = "group_replication_single_primary_mode"

var mysqlFacts = slices.Concat(health.MySQL, []health.Fact{
	{
		Name: "the idle timeout of a session for a minute", Query: "SELECT @@SESSION.wait_timeout",
		Good: health.Is(strconv.Itoa(int(probeTTL / time.Second))), Level: driver.Unsafe, Advice: keepTimeout,
	},
	{
		Name: "wsrep_on", Query: "SELECT @@GLOBAL.wsrep_on", Good: health.Is("0", "OFF"), Level: driver.Unsafe,
		Advice: "let all clients connect to one node of the cluster, or leave out mode=session:" +
			" no node knows of the others' GET_LOCK",
	},
	{
		Name: onePrimary, Query: "SELECT @@GLOBAL." + onePrimary, Good: health.Is("1", "ON"), Level: driver.Unsafe,
		Advice: "let all clients connect to one server of the group, or leave out mode=session:" +
			" no server knows of the others' GET_LOCK",
	},
})

var postgresFacts = slices.Concat(health.Postgres, []health.Fact{
	{
		Name: "the server's version", Query: "SHOW server_version", Good: health.AtLeast(14), Level: driver.Unsafe,
		Advice: "upgrade to PostgreSQL 14 or newer: older ones end no idle session",
	},
	{
		Name: "the idle timeout of a session for a minute", Query: "SHOW idle_session_timeout",
		Good: health.Is("1min"), Level: driver.Unsafe, Advice: keepTimeout,
	},
})

var _ driver.Checker = (*Driver)(nil)
