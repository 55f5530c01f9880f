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
		_, waits := driver.As[driver.Waiter](d)
		_, listens := driver.As[driver.Listener](d)
		_, checks := driver.As[driver.Checker](d)
		_, identifies := driver.As[driver.Identifier](d)
		if !waits || !listens || !checks || !identifies {
			t.Errorf("%q: waits %v, listens %v, checks %v, identifies %v; want all",
				layout, waits, listens, checks, identifies)
		}
		_, renews := driver.As[driver.Renewer](d)
		_, watches := driver.As[driver.Watcher](d)
		_, peeks := driver.As[driver.Peeker](d)
		_, lists := driver.As[driver.Lister](d)
		_, breaks := driver.As[driver.Breaker](d)
		_, revokes := driver.As[driver.Revoker](d)
		_, votes := driver.As[driver.Voter](d)
		for what, able := range map[string]bool{
			"renew": renews, "watch": watches, "peek": peeks, "list": lists,
			"break": breaks, "revoke": revokes, "vote": votes,
		} {
			if able != queues {
				t.Errorf("%q can %s: %v, want %v", layout, what, able, queues)
			}
		}
	}
}
