package sqllock

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Without an SQL driver the error says what to import. There is none in this module.
func TestMissingSQLDriver(t *testing.T) {
	_, err := drivertest.Open(t.Context(), "file:"+t.TempDir()+"/locks.db")
	if err == nil || !strings.Contains(err.Error(), `import _ "modernc.org/sqlite"`) {
		t.Errorf("Open: %v; want an error that says what to import", err)
	}
}

// What the SQL driver for MySQL would take for something else is refused.
func TestMySQLAddress(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://h1,h2/app":            "one host",
		"mysql://jobs%3Anightly@h/app": "colon",
	} {
		u, err := driver.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := connect(u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", url, err, want)
		}
	}
}
