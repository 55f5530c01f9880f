package etcdlock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A value outlives whoever has set it. That one was removed is known for a TTL at least, and then goes by itself.
func TestRemovedValuesGo(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	c := acquire(t, d, claim("job", long))
	for i, row := range []struct {
		text  string
		stays bool
	}{{"before", true}, {"", false}, {"after", true}} {
		v := driver.Value{Text: row.text, Token: c.Token << 8, Set: time.UnixMicro(int64(i + 1))}
		if err := d.SetValue(limit(t), c, v); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Get(limit(t), "/holdfast/.values/job")
		if err != nil || len(answer.Kvs) != 1 {
			t.Fatalf("%q is stored in %v, %v", row.text, answer, err)
		}
		if lease := answer.Kvs[0].Lease; (lease == 0) != row.stays {
			t.Errorf("%q has lease %d; it stays for good: %t", row.text, lease, row.stays)
		}
	}
}
