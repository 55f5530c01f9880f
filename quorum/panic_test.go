package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// errBug is what a buggy node panics with.
var errBug = errors.New("a bug")

// A buggy node panics when it renews, once it is armed.
type buggy struct {
	old
	armed atomic.Bool
	after time.Duration
}

func (n *buggy) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	if batch[0].Brief && n.armed.Load() {
		time.Sleep(n.after)
		panic(errBug)
	}
	n.old.Do(ctx, batch, done)
}

// buggyNodes are three nodes of which so many panic when they renew, this long after they were asked.
func buggyNodes(t *testing.T, bugs int, after time.Duration) (d *client, held driver.Claim) {
	nodes := make([]driver.Driver, 3)
	all := make([]*buggy, 3)
	for i := range nodes {
		all[i] = &buggy{old: old{memlock.New()}, after: after}
		nodes[i] = all[i]
	}
	d = quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
	held = acquire(t, d, claim("jobs"))
	synctest.Wait()
	for _, n := range all[:bugs] {
		n.armed.Store(true)
	}
	return d, held
}

// A panic of a node's driver in a renewal goes on up, from as many nodes as it comes.
func TestPanicInARenewal(t *testing.T) {
	for bugs := 2; bugs <= 3; bugs++ { // no majority decides before it has come
		synctest.Test(t, func(t *testing.T) {
			d, held := buggyNodes(t, bugs, 0)
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, errBug) {
					t.Errorf("with %d buggy nodes the panic became %v", bugs, err)
				}
			}()
			results, err := d.Renew(t.Context(), []driver.Claim{held})
			t.Errorf("renewed: %+v, %v", results, err)
		})
	}
}

// A panic that comes when the renewal has ended ends the program, as any does that nobody recovers.
func TestLatePanicInARenewal(t *testing.T) {
	const child = "HOLDFAST_LATE_PANIC"
	if os.Getenv(child) != "" {
		synctest.Test(t, func(t *testing.T) {
			d, held := buggyNodes(t, 1, ttl/100)
			results, err := d.Renew(t.Context(), []driver.Claim{held})
			fmt.Println("renewed:", err, results[0].Err)
			pass(ttl)
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"renewed: <nil> <nil>", "the driver panicked: " + errBug.Error()} {
		if !strings.Contains(string(out), want) {
			t.Errorf("without %q: %v, %s", want, err, out)
		}
	}
	if err == nil {
		t.Error("the program went on")
	}
}
