package redislock

import "testing"

// An unused is a Conn that is never asked for anything.
type unused struct {
	Conn
	ShardListener
}

func (unused) Cluster() bool { return false }

// Who listens for one lock knows whether claims wait for it: else it would stop while they do.
func TestListensWhileClaimsWait(t *testing.T) {
	f, err := newForeign(unused{}, Options{Layout: Redisson})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]*listener{
		"of a foreign layout": f.listener,
		"in a cluster":        newListener(unused{}, "", nil, "id"),
	} {
		t.Run(name, func(t *testing.T) {
			needed := n.channels.(*lockChannels).needed
			c := mutex("jobs", "a")
			n.extend(c, false)
			if !needed(c.Name) || needed("another") {
				t.Errorf("claims wait: %v, and for another lock: %v", needed(c.Name), needed("another"))
			}
			n.forget(c.ID)
			if needed(c.Name) {
				t.Error("none waits any more")
			}
		})
	}
}
