package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The first attempt has put the claim, and the second finds it there when its time has come: it is in the queue still.
func TestLeavingClaimStaysKnown(t *testing.T) {
	t.Parallel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{servers.Etcd(t).Addr}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	d, err := New(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, c := context.Background(), driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	if _, err := d.Request(ctx, c); err != nil {
		t.Fatal(err)
	}
	e := d.known(idOf(c))
	e.mu.Lock()
	e.token, e.doubt, e.until = 0, true, now() // its answer is lost
	e.mu.Unlock()
	if e.renewedMeanwhile() {
		t.Fatal("its time has not come")
	}
	if st, err := d.put(ctx, e, c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the answer is %+v, %v; want ErrGone", st, err)
	}
	if d.known(idOf(c)) != e {
		t.Error("the claim is forgotten while it is in the queue")
	}
}
