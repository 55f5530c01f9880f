package scale

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// BenchmarkRenewals measures how many claims of one client a server renews in a second, by the clock.
//
//	go test ./systemtest/scale -run '^$' -bench Renewals
func BenchmarkRenewals(b *testing.B) {
	for _, engine := range []struct {
		name, url string // which has the address in it
		start     func(testing.TB, ...string) *servers.Server
		migrate   bool
	}{
		{"Redis", "redis://%s", servers.Redis, false},
		{"MariaDB", "mysql://root@%s/test", servers.MariaDB, true},
		{"PostgreSQL", "postgres://postgres@%s/postgres?sslmode=disable", servers.Postgres, true},
	} {
		b.Run(engine.name, func(b *testing.B) {
			url := fmt.Sprintf(engine.url, engine.start(b).Addr)
			if engine.migrate {
				if err := sqllock.MigrateURL(b.Context(), url); err != nil {
					b.Fatal(err)
				}
			}
			d, err := driver.Open(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			renewAll(b, d, holdClaims(b, d, 10_000))
		})
	}
}

// holdClaims takes so many locks, and returns what renews them.
func holdClaims(b *testing.B, d driver.Driver, n int) []driver.Op {
	b.Helper()
	renewals, s := make([]driver.Op, n), batch.New(d, nil)
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(16)
	for i := range renewals {
		group.Go(func() error {
			c := driver.Claim{Name: fmt.Sprint("held/", i), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour}
			r := s.Do(ctx, driver.Op{Kind: driver.OpRequest, Claim: c}, 0)
			c.Token = r.Status.Token
			renewals[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true}
			return r.Err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	return renewals
}

// inBatch is how many claims a client renews in one call.
const inBatch = 512

// renewAll renews all claims again and again, in batches, as a client does.
func renewAll(b *testing.B, d driver.Driver, renewals []driver.Op) {
	b.Helper()
	began, renewed := time.Now(), 0
	for b.Loop() {
		for ops := range slices.Chunk(renewals, inBatch) {
			d.Do(b.Context(), ops, func(_ int, r driver.Result) {
				if r.Err != nil || !r.Status.Granted {
					b.Errorf("a renewal is answered with %+v", r)
				}
			})
			renewed += len(ops)
		}
	}
	b.ReportMetric(float64(renewed)/time.Since(began).Seconds(), "renewals/s")
}
