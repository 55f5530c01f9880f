package mariadb

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A cluster of Galera, and what programs do with it that are connected to different nodes.
func TestGalera(t *testing.T) {
	t.Parallel()
	// Where two nodes change the same rows, MariaDB 10.11 may let one stand still for that time.
	nodes := servers.Galera(t, 2, "--innodb-lock-wait-timeout=1",
		"--wsrep-mode=STRICT_REPLICATION,REQUIRED_PRIMARY_KEY", "--innodb-force-primary-key=1")
	const inStep = "SET SESSION wsrep_sync_wait = 1"
	urls := migrateNodes(t, nodes, inStep)
	t.Run("other node", func(t *testing.T) { testOtherNode(t, urls) })
	t.Run("at once", func(t *testing.T) { testAtOnce(t, urls, "") })
	t.Run("at once with ShedLock", func(t *testing.T) { testAtOnce(t, urls, "?layout=shedlock") })
	t.Run("in transactions", func(t *testing.T) { testNodesInTx(t, nodes, inStep) })
	t.Run("crowd", func(t *testing.T) { testNodesCrowd(t, urls) })
	t.Run("sessions", func(t *testing.T) { testNodesSessions(t, urls, "wsrep_on is 1") })
	t.Run("without a majority", func(t *testing.T) { testWithoutMajority(t, nodes, urls[0]) })
}

// A node that has lost the others does nothing, and says so. Who waits there is served once it is a cluster again.
func testWithoutMajority(t *testing.T, nodes []*servers.Server, url string) {
	db := servers.Databases[0].Pool(t, nodes[0].Addr)
	set := func(option string) {
		if _, err := db.ExecContext(t.Context(), "SET GLOBAL wsrep_provider_options = ?", option); err != nil {
			t.Fatal(option, err)
		}
	}
	mutex := openClient(t, url).Mutex("alone", holdfast.WithTTL(time.Hour), holdfast.WithPatience(holdfast.Endless))
	impatient := openClient(t, url).Mutex("alone", holdfast.WithTTL(time.Hour), holdfast.WithPatience(0))
	set("evs.suspect_timeout=PT0.5S")
	set("evs.inactive_timeout=PT1S")
	nodes[1].Kill(t)
	awaitError(t, db, "1047")
	if _, err := impatient.Lock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) || dbms.Code(err) != "1047" ||
		!strings.Contains(err.Error(), "join its cluster") {
		t.Errorf("a lock of a node without a majority: %v", err)
	}
	locked := make(chan error)
	go func() {
		_, err := mutex.Lock(t.Context())
		locked <- err
	}()
	set("pc.bootstrap=1")
	if err := <-locked; err != nil {
		t.Errorf("after the node is a cluster by itself: %v", err)
	}
}

// awaitError asks a server until it answers with an error.
func awaitError(t *testing.T, db *sql.DB, code string) {
	t.Helper()
	for {
		_, err := db.ExecContext(t.Context(), "SELECT COUNT(*) FROM holdfast_locks")
		if dbms.Code(err) == code {
			return
		}
		if err != nil {
			t.Fatal(fmt.Errorf("while waiting for error %s: %w", code, err))
		}
		time.Sleep(time.Millisecond)
	}
}
