package postgres

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// A service of a file says where the server is, and not this machine's usual port.
func TestService(t *testing.T) {
	t.Parallel()
	addr := servers.Postgres(t).Addr
	if err := sqllock.MigrateURL(t.Context(), "postgres://postgres@"+addr+"/postgres?sslmode=disable"); err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "services")
	service := fmt.Sprintf("[locks]\nhost=%s\nport=%s\nuser=postgres\nsslmode=disable\n", host, port)
	if err := os.WriteFile(file, []byte(service), 0o600); err != nil {
		t.Fatal(err)
	}
	params := "?service=locks&servicefile=" + url.QueryEscape(file)
	claimstest.TestURLs(t, []claimstest.URLRow{
		{Name: "a service", URL: "postgres:///postgres" + params},
		{Name: "a service and a slash", URL: "postgres:///postgres/" + params},
	})
}
