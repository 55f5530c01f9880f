package sqltest

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// A store is a database server that a test has for itself, with the tables made.
type store struct {
	*servers.Server
	url string
}

// stores are the servers that keep claims.
var stores = map[string]func(testing.TB) store{
	"mariadb": func(t testing.TB) store {
		s := servers.MariaDB(t)
		return migrated(t, s, "mysql://root@"+s.Addr+"/test")
	},
	"postgres": func(t testing.TB) store {
		s := servers.Postgres(t)
		return migrated(t, s, "postgres://postgres@"+s.Addr+"/postgres?sslmode=disable")
	},
}

func migrated(t testing.TB, s *servers.Server, url string) store {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return store{s, url}
}

// client opens a new client of the store, which is closed with the test.
func (s store) client(t testing.TB) driver.Driver {
	t.Helper()
	d, err := driver.Open(context.Background(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// TestServers is the contract, on each of the servers.
func TestServers(t *testing.T) {
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			drivertest.Run(t, drivertest.Harness{Open: s.client, TTL: time.Second})
		})
	}
}
