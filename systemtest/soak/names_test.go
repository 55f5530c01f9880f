package soak

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// BenchmarkManyNames measures a cycle, which is to take a lock that is free and give it back, in an empty table and
// beside so many names that nobody uses, half of which are old enough to be forgotten: clients that come and go sweep
// meanwhile.
//
//	go test ./systemtest/soak -run '^$' -bench ManyNames -benchtime 60s -timeout 2h -soak.names 5000000
func BenchmarkManyNames(b *testing.B) {
	n := cmp.Or(*names, 20_000)
	for _, one := range []struct {
		start func(testing.TB) Store
		fill  func(n int) []string // makes so many names
	}{{Postgres, onPostgres}, {MariaDB, onMariaDB}} {
		s := one.start(b).(*database)
		b.Run(s.Name(), func(b *testing.B) {
			var empty, beside Measure
			b.Run("empty", func(b *testing.B) { empty = cycles(b, s) })
			s.change(b, one.fill(n))
			b.Run(fmt.Sprintf("names=%d", n), func(b *testing.B) {
				beside = cycles(b, s)
				left := number(b, s.admin(b), "SELECT count(*) FROM holdfast_locks WHERE name LIKE 'old/%'")
				b.ReportMetric(float64(int64(n)-left), "forgotten")
				b.ReportMetric(float64(beside.P50)/float64(empty.P50), "p50/p50-empty")
				b.ReportMetric(float64(beside.P99)/float64(empty.P99), "p99/p99-empty")
			})
		})
	}
}

// cycles measures cycles on new names, one after the other, while clients that come and go sweep.
func cycles(b *testing.B, s *database) Measure {
	client := s.Open(b)
	stop := keepSweeping(b, s)
	defer stop()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		cycle(b, client)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	m := Measure{P50: took[len(took)/2], P99: took[len(took)*99/100]}
	b.ReportMetric(float64(m.P50)/1e6, "p50-ms")
	b.ReportMetric(float64(m.P99)/1e6, "p99-ms")
	return m
}

// endTTL is for how long the end of a cycle is remembered: most can be forgotten while cycles are measured.
const endTTL = 5 * time.Second

// cycle takes a lock with a new name, which must be free, and gives it back.
func cycle(b *testing.B, client *drivertest.Facade) {
	c := claim("cycle/"+driver.NewID(), endTTL)
	st, err := client.Request(b.Context(), c)
	if err != nil || !st.Granted {
		b.Errorf("Request = %+v, %v", st, err)
		return
	}
	c.Token = st.Token
	if err := client.Release(b.Context(), c); err != nil {
		b.Error(err)
	}
}

// keepSweeping opens and closes clients, which sweep when they are closed, as often as there is a turn, until stop.
func keepSweeping(b *testing.B, s *database) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		for driver.Sleep(ctx, 100*time.Millisecond) == nil {
			client, err := drivertest.Open(ctx, s.url())
			if err != nil {
				continue
			}
			cycle(b, client)
			client.Close()
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

// change runs statements behind the driver's back.
func (d *database) change(b *testing.B, statements []string) {
	b.Helper()
	db := d.admin(b)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
}

// onPostgres leaves what locks leave that were released: half of them a day ago, and half 31 days ago.
func onPostgres(n int) []string {
	return []string{fmt.Sprintf("INSERT INTO holdfast_locks (name, token, released, head)"+
		" SELECT convert_to('old/' || i, 'UTF8'), l.at, 0, l.at FROM generate_series(1, %d) i, LATERAL ("+
		"SELECT (extract(epoch FROM now()) * 1000000)::bigint - (1 + i %% 2 * 30) * 86400000000 + i AS at) l", n),
		"VACUUM ANALYZE holdfast_locks"}
}

// onMariaDB does the same.
func onMariaDB(n int) []string {
	return []string{fmt.Sprintf("INSERT INTO holdfast_locks (name, token, released)"+
		" SELECT CONCAT('old/', seq), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"+
		" - (1 + seq %% 2 * 30) * 86400000000 + seq, 0 FROM seq_1_to_%d", n),
		"ANALYZE TABLE holdfast_locks"}
}
