package opened

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// DriverAfterDeadFlows opens a driver of the server at an address by the URL that it has at another one. When it is
// returned, the connections that it had opened have died without a word: what it sent over them has vanished, and
// requests go over new ones.
func DriverAfterDeadFlows(t testing.TB, server string, url func(addr string) string) *drivertest.Facade {
	t.Helper()
	p := proxy.New(t, server)
	d := Driver(t, url(p.Addr))
	if err := use(d, patience); err != nil {
		t.Fatal(err)
	}
	p.SwallowOpen()
	err := use(d, attempt)
	for end := time.Now().Add(patience); err != nil && time.Now().Before(end); {
		err = use(d, attempt)
	}
	if err != nil {
		t.Fatalf("after the connections have died: %v", err)
	}
	return d
}

// attempt is how long a request is waited for that may have been sent over a dead connection.
const attempt = 500 * time.Millisecond

// use takes a lock that nobody else wants, and gives it back.
func use(d *drivertest.Facade, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ttl := max(d.Traits().MinTTL, time.Second)
	c := driver.Claim{Name: driver.NewID(), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: ttl}
	st, err := d.Request(ctx, c)
	if err != nil {
		return err
	}
	c.Token = st.Token
	return d.Release(ctx, c)
}
