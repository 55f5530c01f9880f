package etcdlock_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A roundabout is a client of three servers, each behind a proxy.
type roundabout struct {
	*etcdlock.Driver
	proxies []*proxy.Proxy
	other   *etcdlock.Driver // sees what was applied
}

func newRoundabout(t *testing.T, cluster []*servers.Server) roundabout {
	t.Helper()
	r := roundabout{other: open(t, nil, addrs(cluster)...)}
	var through []string
	for _, s := range cluster {
		p := proxy.New(t, s.Addr)
		r.proxies, through = append(r.proxies, p), append(through, p.Addr)
	}
	r.Driver = open(t, nil, through...)
	return r
}

// settle has the client ask the first server from now on.
func (r roundabout) settle(t *testing.T) {
	t.Helper()
	for _, p := range r.proxies[1:] {
		p.BlackHole()
	}
	release(t, r, acquire(t, r, claim("warm up "+t.Name(), long)))
	for _, p := range r.proxies[1:] {
		p.Heal()
	}
}

// Ways in which a request is applied by a server, and its answer never comes.
var unanswered = map[string]func(t *testing.T, r roundabout, match string){
	"the first server hangs": func(t *testing.T, r roundabout, match string) {
		r.settle(t)
		r.proxies[0].HangNextReplyAfter([]byte(match))
	},
	"all connections break": func(_ *testing.T, r roundabout, match string) {
		for _, p := range r.proxies {
			p.DropNextReplyAfter([]byte(match))
		}
	},
}

// A request that a server has applied without an answer is repeated at another, and means the same there.
func TestRepeatedAtAnotherServer(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	none := func(*testing.T, roundabout, driver.Claim) driver.Claim { return driver.Claim{} }
	for name, row := range map[string]struct {
		prepare func(*testing.T, roundabout, driver.Claim) driver.Claim // returns the claim with its token
		call    func(context.Context, roundabout, driver.Claim) (driver.Status, error)
		queued  int // claims that are left
		granted bool
		part    string // of the request that is not answered; empty: the claim's ID
	}{
		"request": {none, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return r.Request(ctx, c)
		}, 1, true, ""},
		"try": {none, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			c.Queue = false
			return r.Request(ctx, c)
		}, 1, true, ""},
		"release": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return driver.Status{}, r.Release(ctx, c)
		}, 0, false, "/holdfast/release"},
		"request with others": {none, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return withAnother(ctx, r, driver.Op{Kind: driver.OpRequest, Claim: c})
		}, 1, true, ""},
		"release with others": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return withAnother(ctx, r, driver.Op{Kind: driver.OpRelease, Claim: c})
		}, 0, false, "beside"},
		"undo": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			c.Token = 0
			return driver.Status{}, r.Release(ctx, c)
		}, 0, false, ""},
		"break": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return driver.Status{}, r.Break(ctx, c.Name, c.ID)
		}, 0, false, "/.ended/"},
		"revoke": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			return driver.Status{}, r.Revoke(ctx, c.Name, c.ID)
		}, 1, false, `"revoked":true`},
		"another TTL": {held, func(ctx context.Context, r roundabout, c driver.Claim) (driver.Status, error) {
			c.TTL = long / 2
			return r.Request(ctx, c)
		}, 1, true, fmt.Sprintf(`"ttl":%d`, (long / 2).Milliseconds())},
	} {
		for how, lose := range unanswered {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				r := newRoundabout(t, cluster)
				release(t, r, acquire(t, r, claim("warm up "+t.Name(), long)))
				c := claim(name+how, long)
				if prepared := row.prepare(t, r, c); prepared.ID != "" {
					c = prepared
				}
				lose(t, r, cmp.Or(row.part, c.ID))
				st, err := row.call(limit(t), r, c)
				if err != nil || st.Granted != row.granted {
					t.Errorf("it answers %+v, %v", st, err)
				}
				if queue, err := r.other.Queue(limit(t), c.Name); err != nil || len(queue) != row.queued {
					t.Errorf("the queue is %+v, %v; want %d claims", queue, err, row.queued)
				}
			})
		}
	}
}

func held(t *testing.T, r roundabout, c driver.Claim) driver.Claim { return acquire(t, r, c) }

// withAnother does an operation in one transaction with the request of another lock.
func withAnother(ctx context.Context, r roundabout, op driver.Op) (driver.Status, error) {
	var results [2]driver.Result
	batch := []driver.Op{op, {Kind: driver.OpRequest, Claim: claim(op.Claim.Name+" beside", long)}}
	r.Do(ctx, batch, func(i int, r driver.Result) { results[i] = r })
	return results[0].Status, errors.Join(results[0].Err, results[1].Err)
}
