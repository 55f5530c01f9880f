package zklock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/apart"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// While a majority serves, no holder loses its lock, and a lock that is free can be had, whatever befalls one
// member. The others notice after syncLimit, two ticks of 2 s, and those that have gone elsewhere meanwhile must
// find the new leader.
func TestOneMemberFails(t *testing.T) {
	apart.Run(t, apart.Ensemble{
		Start:    func(t *testing.T) ([]*servers.Server, *servers.Network) { return servers.ZooKeeperApart(t, 3) },
		Leader:   leader,
		Open:     engine.Open,
		Election: 10 * time.Second,
		Always:   []string{"the leader is cut off"},
	})
}
