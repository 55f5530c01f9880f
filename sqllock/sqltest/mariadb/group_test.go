package mariadb

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Group replication with several primaries, and what programs do with it that are connected to different ones.
func TestGroupReplication(t *testing.T) {
	t.Parallel()
	nodes := servers.GroupReplication(t, 2)
	const inStep = "SET SESSION group_replication_consistency = 'BEFORE'"
	urls := migrateNodes(t, nodes, inStep)
	t.Run("other node", func(t *testing.T) { testOtherNode(t, urls) })
	t.Run("at once", func(t *testing.T) { testAtOnce(t, urls, "") })
	t.Run("at once with ShedLock", func(t *testing.T) { testAtOnce(t, urls, "?layout=shedlock") })
	t.Run("in transactions", func(t *testing.T) { testNodesInTx(t, nodes, inStep) })
	t.Run("crowd", func(t *testing.T) { testNodesCrowd(t, urls) })
	t.Run("sessions", func(t *testing.T) {
		testNodesSessions(t, urls, "group_replication_single_primary_mode is 0")
	})
}
