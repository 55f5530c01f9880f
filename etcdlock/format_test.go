package etcdlock_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
)

// makeNewer has a claim look as one of another release would, which has another number for its format.
func makeNewer(t *testing.T, addr string, c driver.Claim) {
	t.Helper()
	client := dial(t, addr)
	there, err := client.Get(limit(t), "/holdfast/"+c.Name+"/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	isIts := func(kv *mvccpb.KeyValue) bool { return strings.Contains(string(kv.Value), c.ID) }
	at := slices.IndexFunc(there.Kvs, isIts)
	if at < 0 {
		t.Fatalf("the claim is not there: %+v", there)
	}
	kv := there.Kvs[at]
	record := strings.Replace(string(kv.Value), fmt.Sprintf(`"v":%d`, etcdlock.ThisFormat),
		fmt.Sprintf(`"v":%d`, etcdlock.ThisFormat+1), 1)
	if record == string(kv.Value) {
		t.Fatalf("%s has no number to change", record)
	}
	if _, err := client.Put(limit(t), string(kv.Key), record, clientv3.WithIgnoreLease()); err != nil {
		t.Fatal(err)
	}
}

// The newer record is not the nearest ahead, so it is read only when the claim is in the queue already.
func TestNewerRecordFarAhead(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, nil, addr)
	first := acquire(t, d, units("rw", 1, driver.All))
	acquire(t, d, units("rw", 1, driver.All))
	makeNewer(t, addr, first)
	_, err := d.Request(limit(t), units("rw", driver.All, driver.All))
	refused(t, "behind a newer record far ahead", err)
	keys, err := dial(t, addr).Get(limit(t), "/holdfast/rw/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || keys.Count != 2 {
		t.Errorf("%d claims are in the queue, error %v; the refused claim should be gone", keys.Count, err)
	}
}

// A key that looks like a claim and holds none is named to whoever meets it, and nobody waits for it.
func TestRecordOfNoClaim(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	for i, record := range []string{
		``, `{}`, `{"v":1}`, `{"v":1,"weight":1,"limit":0}`, `{"v":1,"weight":2,"limit":1}`,
		`{"v":1,"weight":-1,"limit":1}`, `{"v":1,"weight":1,"limit":2147483648}`,
	} {
		name := fmt.Sprint("job", i)
		key := "/holdfast/" + name + "/1f/0"
		if _, err := client.Put(limit(t), key, record); err != nil {
			t.Fatal(err)
		}
		_, err := d.Request(limit(t), claim(name, long))
		_, queueErr := d.Queue(limit(t), name)
		for _, err := range []error{err, queueErr} {
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: got %v, want a refusal that names the key", record, err)
			}
		}
	}
}

// A holder sets the value of its lock, and is asked to let go, also where another release waits behind it.
func TestValueBeforeANewerVersion(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, nil, addr)
	held := acquire(t, d, claim("job", long))
	makeNewer(t, addr, enqueue(t, d, claim("job", long)))
	v := driver.Value{Text: "text", Token: held.Token << 8, Set: time.UnixMicro(1)}
	if err := d.SetValue(limit(t), held, v); err != nil {
		t.Errorf("SetValue: %v", err)
	}
	if err := d.Revoke(limit(t), "job", held.ID); err != nil {
		t.Errorf("Revoke: %v", err)
	}
}
