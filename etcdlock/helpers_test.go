package etcdlock_test

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
)

// What tests of this package do with a driver, under short names.
const (
	long  = leasedtest.Long
	short = leasedtest.Short
)

var (
	limit, addrs              = leasedtest.Limit, leasedtest.Addrs
	claim, units              = claimed.Mutex, leasedtest.Units
	request, acquire, enqueue = claimed.Request, claimed.Acquire, claimed.Enqueue
	release, granted          = claimed.Release, leasedtest.Granted
	mustBeGranted             = leasedtest.MustBeGranted
	openURL, mustOpen         = leasedtest.OpenURL, leasedtest.MustOpen
	until, each, refused      = leasedtest.Until, leasedtest.Each, leasedtest.Refused
)

// watchers is how many watches the server serves.
func watchers(t testing.TB, addr string) (n int) {
	t.Helper()
	answer, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "etcd_debugging_mvcc_watcher_total "); ok {
			n, err = strconv.Atoi(value)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
