package experiment

import (
	"context"
	"io"
	"net/http"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/lab/classic"
)

func onEtcd() []Experiment {
	return []Experiment{{
		Name:     "etcd-wake-all",
		Question: "Who is woken in etcd when a lock is given back?",
		Needs:    "etcd",
		Code:     "classic/etcd_one_key.go",
		Variants: []Variant{
			{Title: "One key that everybody waits for, as with etcd 2", Run: func(s *Trial) {
				herd(s, oneKeyLine(s, s.etcdAddr()), s.sizes())
			}},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) {
				addr := s.etcdAddr()
				herd(s, ourLine(s, "etcd://"+addr, func() float64 { return etcdEvents(s, addr) }), s.sizes())
			}},
		},
		Answer: eventsForRelease,
	}}
}

func oneKeyLine(s *Trial, addr string) line {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Context: s.Context(), Logger: zap.NewNop()})
	s.Must(err)
	s.Cleanup(func() { _ = client.Close() })
	lease, err := client.Grant(s.Context(), 60)
	s.Must(err)
	_, err = client.KeepAlive(s.Context(), lease.ID)
	s.Must(err)
	tower := &watchtower{seen: make(map[int]bool)}
	key := herdName()
	return line{
		join: func(s *Trial) func(context.Context) (func(), error) {
			l := classic.OneKey{Client: client, Key: key, Lease: lease.ID, Watching: tower.client()}
			return func(ctx context.Context) (func(), error) {
				return func() { _ = l.Unlock(s.Context()) }, l.Lock(ctx)
			}
		},
		waiting: tower.waiting,
		release: tower.release,
		events:  func() float64 { return etcdEvents(s, addr) },
	}
}

// etcdEvents is how many events the server has sent to those who watch keys.
func etcdEvents(s *Trial, addr string) float64 {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, "http://"+addr+"/metrics", nil)
	s.Must(err)
	answer, err := http.DefaultClient.Do(request)
	s.Must(err)
	defer answer.Body.Close()
	metrics, err := io.ReadAll(answer.Body)
	s.Must(err)
	return sum(string(metrics), func(name string) bool { return name == "etcd_debugging_mvcc_events_total" })
}
