package etcdlock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/apart"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// While a majority serves, no holder loses its lock, and a lock that is free can be had, whatever befalls one
// member: also in the worst of elections, and with another attempt after it.
func TestOneMemberFails(t *testing.T) {
	apart.Run(t, apart.Ensemble{
		Start:    func(t *testing.T) ([]*servers.Server, *servers.Network) { return servers.EtcdApart(t, 3) },
		Leader:   leader,
		Open:     engine.Open,
		Election: 5 * time.Second,
		Always: []string{
			"a follower is cut off", "the leader is cut off", "the leader is stopped",
			"the disk of the leader stalls",
		},
	})
}
