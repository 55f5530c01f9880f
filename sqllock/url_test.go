package sqllock

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Without an SQL driver the error says what to import. There is none in this module.
func TestMissingSQLDriver(t *testing.T) {
	_, err := driver.Open(t.Context(), "file:"+t.TempDir()+"/locks.db")
	if err == nil || !strings.Contains(err.Error(), `import _ "modernc.org/sqlite"`) {
		t.Errorf("Open: %v; want an error that says what to import", err)
	}
}
