package leased

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A claim that was released is remembered for its longest TTL, also when others with shorter ones come and go, and is
// forgotten some time later.
func TestReleasedIsRemembered(t *testing.T) {
	const long, short = 30 * time.Second, 3 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var r Released
		add := func(id string, ttl time.Duration) driver.Claim {
			c := driver.Claim{Name: "job", ID: id, Token: 7}
			r.Add(c, ttl)
			return c
		}
		c := add("first", long)
		for n := range int(long / time.Second) {
			add(strconv.Itoa(n), short)
			if end, ok := r.Find(c); !ok || end.Release(7) != nil || end.Release(8) == nil {
				t.Fatalf("after %d s it is remembered as %+v, %v", n, end, ok)
			}
			time.Sleep(time.Second)
		}
		for n := range int(2*long/time.Second) + 2 {
			add(strconv.Itoa(n), short)
			time.Sleep(time.Second)
		}
		if _, ok := r.Find(c); ok {
			t.Error("it is remembered for ever")
		}
		add("last", short)
		for n := range 100 {
			time.Sleep(time.Second)
			add(strconv.Itoa(n), short)
		}
		if n := len(r.recent.tokens) + len(r.before.tokens); n > 10 {
			t.Errorf("%d claims are remembered, of which the last 4 are due", n)
		}
		if _, ok := r.Find(driver.Claim{Name: "other", ID: "99"}); ok {
			t.Error("a claim on another lock is said to be released")
		}
	})
}
