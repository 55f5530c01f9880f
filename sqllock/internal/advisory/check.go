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
	session := driver.Finding{Fact: "a connection has a session of its own"}
	switch err := d.probe(ctx); {
	case errors.Is(err, ErrPooled):
		session = driver.Finding{Level: driver.Unsafe, Fact: "connections share sessions", Advice: err.Error()}
	case err != nil:
		return nil, err
	}
	s, err := d.openToLook(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	began, micros := time.Now(), int64(0)
	if err := s.Row(ctx, "SELECT "+d.dialect.Now, &micros); err != nil {
		return nil, err
	}
	clock := driver.CompareClocks(time.UnixMicro(micros), began, time.Now())
	facts, err := health.Look(ctx, s, d.dialect.facts)
	return append([]driver.Finding{session, clock}, facts...), err
}

const keepTimeout = "let the proxy keep SET SESSION: otherwise the lock of a client that was cut off stays taken" +
	" for as long as the server keeps idle sessions"

var mysqlFacts = slices.Concat(health.MySQL, []health.Fact{
	{
		Name: "the idle timeout of a session for a minute", Query: "SELECT @@SESSION.wait_timeout",
		Good: health.Is(strconv.Itoa(int(probeTTL / time.Second))), Level: driver.Unsafe, Advice: keepTimeout,
	},
}, health.OneWriter(driver.Unsafe,
	"let all clients connect to one node of the cluster, or leave out mode=session:"+
		" no node knows of the others' GET_LOCK",
	"let all clients connect to one server of the group, or leave out mode=session:"+
		" no server knows of the others' GET_LOCK",
))

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
