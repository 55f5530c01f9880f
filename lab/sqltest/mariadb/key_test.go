package mariadb

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A server that takes no table without a primary key, as replication in groups asks for, takes ours.
func TestPrimaryKeyForced(t *testing.T) {
	addr := servers.MariaDB(t, "--loose-innodb-force-primary-key=1", "--loose-sql-require-primary-key=1").Addr
	if err := sqllock.MigrateURL(t.Context(), "mysql://root@"+addr+"/test"); err != nil {
		t.Fatal(err)
	}
}
