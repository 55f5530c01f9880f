package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// migrateNodes makes all tables of a cluster, and returns the URLs of its nodes.
func migrateNodes(t *testing.T, nodes []*servers.Server, inStep string) (urls []string) {
	t.Helper()
	for _, n := range nodes {
		urls = append(urls, "mysql://root@"+n.Addr+"/test")
	}
	const shedlock = "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY," +
		" lock_until TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)," +
		" locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL)"
	if _, err := servers.Databases[0].Pool(t, nodes[0].Addr).ExecContext(t.Context(), shedlock); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"", "?layout=shedlock"} {
		if err := sqllock.MigrateURL(t.Context(), urls[0]+layout); err != nil {
			t.Fatal(err)
		}
	}
	awaitNode(t, nodes[1], inStep)
	return urls
}

// awaitNode waits until a node has done all that others have done before, which is what queries of a session wait for
// after the statement.
func awaitNode(t *testing.T, node *servers.Server, inStep string) {
	t.Helper()
	conn, err := servers.Databases[0].Pool(t, node.Addr).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{inStep, "SELECT COUNT(*) FROM shedlock"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
}

// A node sees a claim that another has made, as soon as its client knows of it: a balancer may send the next request
// there.
func testOtherNode(t *testing.T, urls []string) {
	one, other := openNode(t, urls[0]), openNode(t, urls[1])
	for range 200 {
		c := driver.Claim{Name: t.Name(), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour}
		st, err := one.Request(t.Context(), c)
		if err != nil || !st.Granted {
			t.Fatalf("Request: %+v, %v", st, err)
		}
		c.Token = st.Token
		if st, err := other.Request(t.Context(), c); err != nil || !st.Granted {
			t.Fatalf("to renew it on the other node: %+v, %v", st, err)
		}
		if err := other.Release(t.Context(), c); err != nil {
			t.Fatalf("to release it on the other node: %v", err)
		}
	}
}

// Of two that ask for a free lock at the same time one has it. The other's transaction is undone when it is committed,
// and made again.
func testAtOnce(t *testing.T, urls []string, layout string) {
	drivers := []*drivertest.Facade{openNode(t, urls[0]+layout), openNode(t, urls[1]+layout)}
	for i := range 100 {
		var granted atomic.Int32
		var both sync.WaitGroup
		for _, d := range drivers {
			c := driver.Claim{Name: fmt.Sprint("at once ", i), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour}
			both.Go(func() {
				st, err := d.Request(t.Context(), c)
				if err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				if st.Granted {
					granted.Add(1)
				}
			})
		}
		if both.Wait(); granted.Load() != 1 {
			t.Fatalf("in round %d %d were granted the lock", i, granted.Load())
		}
	}
}

// Of two transactions that have one lock on two nodes, and write different rows, one is undone and made again.
func testNodesInTx(t *testing.T, nodes []*servers.Server, inStep string) {
	var pools []*sql.DB
	for _, n := range nodes {
		pools = append(pools, servers.Databases[0].Pool(t, n.Addr))
	}
	if err := sqllock.MigrateInTx(t.Context(), pools[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := pools[0].ExecContext(t.Context(), "CREATE TABLE firsts (node INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	for name, how := range map[string]sqllock.RowLock{"alone": sqllock.Exclusive, "beside a reader": sqllock.Share} {
		if _, err := pools[0].ExecContext(t.Context(), "DELETE FROM firsts"); err != nil {
			t.Fatal(err)
		}
		awaitNode(t, nodes[1], inStep)
		t.Run(name, func(t *testing.T) { testFirsts(t, pools, how) })
	}
}

// testFirsts lets two transactions find at once that nobody was first, of which the second one locks as how says.
func testFirsts(t *testing.T, pools []*sql.DB, how sqllock.RowLock) {
	var looked, both sync.WaitGroup
	looked.Add(len(pools))
	for i, db := range pools {
		first := sync.OnceFunc(func() { looked.Done(); looked.Wait() })
		both.Go(func() {
			err := sqllock.InTx(t.Context(), db, t.Name(), func(ctx context.Context, tx *sql.Tx) error {
				var n int
				if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM firsts").Scan(&n); err != nil || n > 0 {
					return err
				}
				first()
				_, err := tx.ExecContext(ctx, "INSERT INTO firsts VALUES (?)", i)
				return err
			}, []sqllock.RowLock{sqllock.Exclusive, how}[i])
			if err != nil {
				t.Errorf("on node %d: %v", i, err)
			}
		})
	}
	both.Wait()
	var n int
	if err := pools[0].QueryRowContext(t.Context(), "SELECT COUNT(*) FROM firsts").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d were the first, %v", n, err)
	}
}

// Clients on both nodes take one lock in turns, with no two in it at once, and tokens that grow.
func testNodesCrowd(t *testing.T, urls []string) {
	const clients, cycles = 6, 30
	var inside atomic.Bool
	var tokens []uint64 // in the order of the holders
	var crowd sync.WaitGroup
	for i := range clients {
		client := openClient(t, urls[i%len(urls)])
		m := client.Mutex("crowded", holdfast.WithTTL(time.Hour), holdfast.WithPatience(holdfast.Endless))
		crowd.Go(func() {
			for range cycles {
				err := m.Do(t.Context(), func(_ context.Context, l *holdfast.Lease) error {
					if !inside.CompareAndSwap(false, true) {
						return errors.New("another has the lock")
					}
					tokens = append(tokens, l.Token())
					inside.Store(false)
					return nil
				})
				if err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			}
		})
	}
	crowd.Wait()
	if len(tokens) != clients*cycles || !slices.IsSorted(tokens) || len(slices.Compact(tokens)) != clients*cycles {
		t.Errorf("%d holders had the tokens %d", clients*cycles, tokens)
	}
}

// Each node has locks of sessions of its own: both give one. So doctor calls that unsafe. Tokens are rows, of which
// there is one for both.
func testNodesSessions(t *testing.T, urls []string, fact string) {
	var tokens []uint64
	for _, url := range urls {
		findings, err := driver.Check(t.Context(), openNode(t, url+"?mode=session"), false)
		if err != nil || !finds(findings, fact, driver.Unsafe) {
			t.Errorf("Check of sessions: %+v, %v", findings, err)
		}
		findings, err = driver.Check(t.Context(), openNode(t, url), false)
		if err != nil || !finds(findings, fact, driver.Warning) {
			t.Errorf("Check: %+v, %v", findings, err)
		}
		l, err := openClient(t, url+"?mode=session").Mutex("split", holdfast.WithTTL(time.Minute)).TryLock(t.Context())
		if err != nil {
			t.Fatalf("%v: nodes share the locks of sessions, so why not say so?", err)
		}
		tokens = append(tokens, l.Token())
	}
	if tokens[0] >= tokens[1] {
		t.Errorf("the tokens are %d", tokens)
	}
}

func finds(all []driver.Finding, fact string, level driver.Level) bool {
	return slices.ContainsFunc(all, func(f driver.Finding) bool { return f.Fact == fact && f.Level == level })
}

func openNode(t *testing.T, url string) *drivertest.Facade {
	t.Helper()
	d, err := drivertest.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func openClient(t *testing.T, url string) *holdfast.Client {
	t.Helper()
	client, err := holdfast.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// Group replication with several primaries, and what programs do with it that are connected to different ones.
func TestGroupReplication(t *testing.T) {
	t.Parallel()
	nodes := servers.GroupReplication(t, 2)
	const inStep = "SET SESSION group_replication_consistency = 'BEFORE'"
	urls := migrateNodes(t, nodes, inStep)
	t.Run("other node", func(t *testing.T) { testOtherNode(t, urls) })
	t.Run("at once", func(t *testing.T) { testAtOnce(t, urls, "") })
	t.Run("at once with ShedLock", func(t *testing.T) { testAtOnce(t, urls, "?layout=shedlock") })
	t.Run("in transactions", func(t *testing.T) { testNodesInTx(t, nodes, inStep) })
	t.Run("crowd", func(t *testing.T) { testNodesCrowd(t, urls) })
	t.Run("sessions", func(t *testing.T) {
		testNodesSessions(t, urls, "group_replication_single_primary_mode is 0")
	})
}
