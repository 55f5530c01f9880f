package flashsale

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/lab/subprocess"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

func TestMain(m *testing.M) {
	subprocess.Main()
	os.Exit(m.Run())
}

func plan(lock Lock) Plan {
	return Plan{Buyers: 300, Stock: 40, Processes: 4, Pay: time.Millisecond, Lock: lock, Backend: testbed.Backends[1],
		Database: Databases[0]}
}

// hold holds the sale in a test, which skips what is not installed.
func hold(t *testing.T, p Plan) Result {
	t.Helper()
	served := 0
	r, err := p.hold(t, func(n int) { served = n })
	if err != nil {
		t.Fatal(err)
	}
	if served != p.Buyers {
		t.Errorf("%d of %d buyers were served", served, p.Buyers)
	}
	t.Log(strings.Join(r.Row(), "  "))
	return r
}

func TestOversellsWithoutASharedLock(t *testing.T) {
	for _, lock := range []Lock{NoLock, Local} {
		t.Run(string(lock), func(t *testing.T) {
			if r := hold(t, plan(lock)); r.Oversold == 0 || !r.AsExpected() {
				t.Errorf("it sold %d of %d", r.Sold, r.Stock)
			}
		})
	}
}

// A local lock is enough where there is one process: it is the processes that make it fail.
func TestLocalLockIsEnoughForOneProcess(t *testing.T) {
	p := plan(Local)
	p.Processes = 1
	if r := hold(t, p); !r.Exact() || !r.AsExpected() {
		t.Errorf("it sold %d of %d and left %d", r.Sold, r.Stock, r.Left)
	}
}

func TestSellsExactlyWithHoldfast(t *testing.T) {
	effort.Long(t)
	for _, b := range testbed.Backends {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			url := b.Start(t)
			b.Start = func(testing.TB) string { return url } // one server for all rounds
			for range effort.Pick(3, 20) {
				p := plan(Holdfast)
				p.Backend = b
				r := hold(t, p)
				if !r.Exact() || !r.AsExpected() {
					t.Errorf("it sold %d of %d and left %d", r.Sold, r.Stock, r.Left)
				}
				if b.Server && r.Requests <= 0 {
					t.Errorf("nobody counted the requests")
				}
			}
		})
	}
}

func TestStockInOtherDatabases(t *testing.T) {
	effort.Long(t)
	for _, d := range Databases[1:] {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			p := plan(NoLock)
			p.Database = d
			if r := hold(t, p); r.Oversold == 0 {
				t.Errorf("without a lock it sold %d of %d", r.Sold, r.Stock)
			}
			p = plan(Holdfast)
			p.Database = d
			if r := hold(t, p); !r.Exact() {
				t.Errorf("it sold %d of %d and left %d", r.Sold, r.Stock, r.Left)
			}
		})
	}
}

func TestRefusesASaleThatIsNone(t *testing.T) {
	p := plan(NoLock)
	p.Processes = p.Buyers + 1
	if r := Hold(t.Context(), p, func(int) {}); r.Err == "" || r.AsExpected() {
		t.Errorf("there was a sale: %+v", r)
	}
}

// A sale whose lock is on a server that is not there says so, once.
func TestSaysWhatKeepsBuyersAway(t *testing.T) {
	for backend, want := range map[string]string{
		"redis://user:geheim@" + nobody(t): "connection refused",
		"redis://":                         "one host",
		"carrier-pigeon://loft":            "unknown scheme",
	} {
		at, err := testbed.At(backend)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(Holdfast)
		p.Backend = at
		r := Hold(t.Context(), p, func(int) { t.Error("a buyer was served") })
		if !strings.Contains(r.Err, want) || strings.Count(r.Err, want) > 1 || strings.Contains(r.Err, "geheim") {
			t.Errorf("%s: got %q, want %q", backend, r.Err, want)
		}
	}
}

// nobody returns an address at which nobody listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
