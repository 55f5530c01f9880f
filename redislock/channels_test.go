package redislock

import "testing"

// Who listens for one lock knows whether claims wait for it: else it would stop while they do.
func TestListensWhileClaimsWait(t *testing.T) {
	type sharded struct {
		Conn
		ShardListener
	}
	for name, p := range map[string]*notifier{
		"of a foreign layout": new(Guest).newNotifier(),
		"in a cluster":        newNotifier(sharded{}, "", nil, "id"),
	} {
		t.Run(name, func(t *testing.T) {
			used := p.channels.(*lockChannels).used
			c := mutex("jobs", "a")
			p.extend(c)
			if !used(c.Name) || used("another") {
				t.Errorf("claims wait: %v, and for another lock: %v", used(c.Name), used("another"))
			}
			p.forget(c.ID)
			if used(c.Name) {
				t.Error("none waits any more")
			}
		})
	}
}
