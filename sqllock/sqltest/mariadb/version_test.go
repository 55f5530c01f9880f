package mariadb

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A server that is too old refuses, and the error says what to do.
func TestTooOld(t *testing.T) {
	if v, _ := servers.Named(os.Getenv("HOLDFAST_EXTRA")); v.Standing != servers.Refused {
		t.Skip("for HOLDFAST_EXTRA with a version that is too old")
	}
	err := sqllock.MigrateURL(t.Context(), "mysql://root@"+servers.MariaDB(t).Addr+"/test")
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "MariaDB 10.6 or newer") {
		t.Errorf("it says %v", err)
	}
}
