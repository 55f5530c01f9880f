//go:build linux

package child

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/guard"
)

func TestMain(m *testing.M) {
	if guard.Asked(os.Args) {
		os.Exit(guard.Main(os.Args))
	}
	os.Exit(m.Run())
}

// The command is waited for when its guard is gone: from then on another group may get its ID.
func TestGuardEndsFirst(t *testing.T) {
	for range 10 {
		c, err := Start(Command{Path: "/bin/true", Args: []string{"true"}, Stdin: os.Stdin, Out: os.Stdout, Err: os.Stderr, Until: func() time.Time { return time.Now().Add(time.Hour) }})
		if err != nil || c.Unguarded() != nil {
			t.Fatal(err, c.Unguarded())
		}
		<-c.Done()
		if pid := c.guard.ID(); pid != 0 {
			t.Errorf("guard %d may kill the group when the ID of that is free", pid)
		}
		<-c.Gone()
	}
}
