package zklock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// A client holds more locks than fit into what a server reads at once, and dies; and so does one that held many
// and whose notes of them are still there. The ensemble serves on, also with what is on the disks. The long
// version has the bounds that servers and clients have by themselves.
func TestClientsWithManyNodesDie(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	locks, cycles, opts := 600, 1300, &zklock.Options{SessionBytes: 24 << 10}
	bounds := []string{"-Djute.maxbuffer=65536", "-Dzookeeper.jute.maxbuffer.extrasize=1024"}
	if effort.IsSoak() {
		locks, cycles, opts, bounds = 50_000, 50_000, nil, nil
	}
	ensemble := servers.ZooKeeperEnsemble(t, 3, bounds...)
	for _, live := range []func(claimed.Driver){
		func(d claimed.Driver) { holdMany(t, d, locks) },
		func(d claimed.Driver) { cycle(t, d, cycles) },
	} {
		d, err := zklock.New(addrs(ensemble), opts)
		if err != nil {
			t.Fatal(err)
		}
		live(d)
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		mustServe(t, ensemble)
	}
	for _, s := range ensemble {
		s.Kill(t)
		s.Restart(t)
		mustServe(t, ensemble)
	}
}

// atOnce is how many locks are asked for at the same time.
const atOnce = 50

// holdMany acquires locks, which stay.
func holdMany(t *testing.T, d claimed.Driver, locks int) {
	t.Helper()
	each(atOnce, func(i int) {
		for n := range locks / atOnce {
			acquire(t, d, claim(fmt.Sprint("job ", i, " ", n), longest))
		}
	})
}

// cycle acquires and releases locks, whose notes stay for a TTL.
func cycle(t *testing.T, d claimed.Driver, cycles int) {
	t.Helper()
	each(atOnce, func(i int) {
		for range cycles / atOnce {
			release(t, d, acquire(t, d, claim(fmt.Sprint("job ", i), longest)))
		}
	})
}

// mustServe waits until each server serves, and the locks of clients that died are free. Servers that have just
// started may elect another leader meanwhile, which breaks connections off: so requests are repeated.
func mustServe(t *testing.T, ensemble []*servers.Server) {
	t.Helper()
	each(len(ensemble), func(i int) {
		until(t, "the server serves", func() bool {
			return strings.Contains(ensemble[i].ZooKeeperWord(t, "srvr"), "\nMode: ")
		})
		d := open(t, nil, ensemble[i].Addr)
		c := claim("job 0 0", long)
		until(t, "the lock is granted", func() bool {
			st, err := d.Request(leasedtest.Limit(t), c)
			return err == nil && st.Granted
		})
		until(t, "the lock is released", func() bool { return d.Release(leasedtest.Limit(t), c) == nil })
	})
}
