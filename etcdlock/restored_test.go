package etcdlock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// backUp copies the data of a server that is stopped for that, and returns what puts them back.
func backUp(t *testing.T, s *servers.Server) (restore func()) {
	t.Helper()
	data, copied := filepath.Join(s.Dir, "data"), filepath.Join(t.TempDir(), "data")
	replace := func(from, to string) {
		t.Helper()
		s.Stop(t)
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			t.Fatal(err)
		}
		s.Restart(t)
	}
	replace(data, copied)
	return func() { replace(copied, data) }
}

// A server is restored from a backup. Who was granted a lock since then is told at the next renewal, although its lease
// is in the backup; who waits is not given up, and gets the lock; and others can lock.
func TestRestoredFromABackup(t *testing.T) {
	t.Parallel()
	s := servers.Etcd(t)
	d := open(t, nil, s.Addr)
	kept := acquire(t, d, claim("kept", long))
	restore := backUp(t, s)
	until(t, "the server is back", func() bool { return renewed(limit(t), d, kept) == nil })
	held := acquire(t, d, claim("job", long))
	waiting := enqueue(t, d, claim("job", long))
	for range 20 {
		release(t, d, acquire(t, d, claim("other", long)))
	}
	restore()
	until(t, "the holder learns that it lost", func() bool {
		_, err := d.Request(limit(t), held)
		return errors.Is(err, driver.ErrGone)
	})
	if err := renewed(limit(t), d, kept); err != nil {
		t.Errorf("a claim that is in the backup: %v", err)
	}
	if _, err := d.Request(limit(t), waiting); err == nil || driver.IsAnswer(err) && !errors.Is(err, driver.ErrGone) {
		t.Errorf("a claim that waited got %v, want that it is gone, or that this is not known", err)
	}
	acquire(t, open(t, nil, s.Addr), claim("job", long))
}
