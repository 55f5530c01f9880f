package etcdlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
)

// The newer record is not the nearest ahead, so it is read only when the claim is in the queue already.
func TestNewerRecordFarAhead(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+1)
	first := acquire(t, now, units("rw", 1, driver.All))
	acquire(t, now, units("rw", 1, driver.All))
	request(t, next, first) // which takes it over, and writes the record anew
	_, err := now.Request(limit(t), units("rw", driver.All, driver.All))
	refused(t, "behind a newer record far ahead", err)
	if queue, err := next.Queue(limit(t), "rw"); err != nil || len(queue) != 2 {
		t.Errorf("the queue is %+v, %v; the refused claim should be gone", queue, err)
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
		key := "/holdfast/" + name + "/id/1f"
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

// A holder sets the value of its lock, and is asked to let go, also where the next release waits behind it.
func TestValueBeforeANewerVersion(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+1)
	held := acquire(t, now, claim("job", long))
	enqueue(t, next, claim("job", long))
	v := driver.Value{Text: "text", Token: held.Token << 8, Set: time.UnixMicro(1)}
	if err := now.SetValue(limit(t), held, v); err != nil {
		t.Errorf("SetValue: %v", err)
	}
	if err := now.Revoke(limit(t), "job", held.ID); err != nil {
		t.Errorf("Revoke: %v", err)
	}
}

// A claim of this release that the next one asks to be released is renewed, and its holder is told.
func TestRevokedByANewerVersion(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	now, next := open(t, nil, addr), open(t, nil, addr).WithFormat(etcdlock.ThisFormat+1)
	held := acquire(t, now, claim("job", long))
	if err := next.Revoke(limit(t), "job", held.ID); err != nil {
		t.Fatal(err)
	}
	if st, err := now.Request(limit(t), held); err != nil || !st.Granted || !st.Revoked {
		t.Errorf("the holder is told %+v, %v", st, err)
	}
}
