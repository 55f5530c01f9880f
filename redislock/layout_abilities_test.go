package redislock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// What a layout cannot do is not there to be found.
func TestAbilitiesFollowTheLayout(t *testing.T) {
	client := rawClient(t, servers.Redis(t).Addr)
	for layout, queues := range map[redislock.Layout]bool{
		redislock.Native: true, redislock.Redisson: false, redislock.PythonRedisLock: false,
	} {
		d, err := redislock.New(client, &redislock.Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		_, checks := driver.As[driver.Checker](d)
		ops := d.Traits().Ops
		if !checks || !ops.Has(driver.OpRequest) || !ops.Has(driver.OpRelease) || !ops.Has(driver.OpWatch) {
			t.Errorf("%q: checks %v, does %v; want what every layout can do", layout, checks, ops)
		}
		_, lists := driver.As[driver.Lister](d)
		for what, able := range map[string]bool{
			"list": lists, "show the queue": ops.Has(driver.OpQueue), "break": ops.Has(driver.OpBreak),
			"revoke": ops.Has(driver.OpRevoke), "vote": ops.Has(driver.OpPropose),
			"keep a value": ops.Has(driver.OpValue),
		} {
			if able != queues {
				t.Errorf("%q can %s: %v, want %v", layout, what, able, queues)
			}
		}
	}
}
