package transactions

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// parts are what another process can do with a database. It says a line when it is ready, and awaits its cue.
var parts = map[string]func(args []string) error{
	"shop":   func(args []string) error { return shop(database{args[0], args[1], args[2]}) },
	"holder": func(args []string) error { return writeLate(database{args[0], args[1], args[2]}) },
}

func TestMain(m *testing.M) { played.Main(m, parts) }

// awaitCue says that a part is ready, and returns when it may go on.
func awaitCue() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// start starts a process and waits until it is ready.
func start(t *testing.T, part string, d database) *played.Process {
	t.Helper()
	p := played.Start(t, part, d.driver, d.dsn, d.addr)
	p.Says(t, "ready")
	return p
}
