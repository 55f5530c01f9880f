package sqltest

import (
	"net"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Something that takes connections and says nothing is no database server: to open it ends with an error, though the
// caller sets no limit.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // those that it never took are reset then
	for _, url := range []string{"mysql://u@%/d", "mysql://u@%/d?mode=session"} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			d, err := drivertest.Open(t.Context(), strings.Replace(url, "%", l.Addr().String(), 1))
			if err == nil {
				d.Close()
				t.Error("it was opened")
			}
		})
	}
}
