package zklock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// An ensemble is restored from a backup, with a later epoch than it ever had, as docs/zookeeper.md says. Tokens go on
// growing, and a client that ran all the time is served.
func TestRestoredWithALaterEpoch(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	data := func(s *servers.Server) string { return filepath.Join(s.Dir, "data") }
	backup := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	d := open(t, nil, addrs(ensemble)...)
	release(t, d, acquire(t, d, claim("job", long)))
	kill(t, ensemble)
	for i, s := range ensemble {
		must(t, os.CopyFS(backup[i], os.DirFS(data(s))))
	}
	restart(t, ensemble)

	served(t, d, claim("another job", long))
	for range 300 { // changes that the backup does not have
		release(t, d, take(t, d, claim("job", long)))
	}
	last := take(t, d, claim("job", long))
	kill(t, ensemble)
	for i, s := range ensemble {
		must(t, os.RemoveAll(data(s)))
		must(t, os.CopyFS(data(s), os.DirFS(backup[i])))
		for _, name := range []string{"acceptedEpoch", "currentEpoch"} {
			must(t, os.WriteFile(filepath.Join(data(s), "version-2", name), []byte("1000"), 0o600))
		}
	}
	restart(t, ensemble)
	if token := served(t, d, claim("job", long)); token <= last.Token {
		t.Errorf("after the restore the token is %d, not after %d", token, last.Token)
	}
}

// served requests a claim until there is a leader and it is granted, and returns its token.
func served(t *testing.T, d claimed.Driver, c driver.Claim) (token uint64) {
	t.Helper()
	until(t, "the client is served", func() bool {
		st, err := d.Request(limit(t), c)
		token = st.Token
		return err == nil && st.Granted
	})
	return token
}

func kill(t *testing.T, ensemble []*servers.Server) {
	t.Helper()
	for _, s := range ensemble {
		s.Kill(t)
	}
}

func restart(t *testing.T, ensemble []*servers.Server) {
	t.Helper()
	for _, s := range ensemble {
		s.Restart(t)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
