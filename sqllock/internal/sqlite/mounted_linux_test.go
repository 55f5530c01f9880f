package sqlite

import "testing"

func TestMountsAt(t *testing.T) {
	const mounts = `22 28 0:20 / /proc rw,nosuid - proc proc rw
28 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw
90 28 259:1 /srv/locks.db /data/locks.db rw,relatime shared:1 - ext4 /dev/root rw
91 28 0:52 /my\040own /data/my\040own\134\040locks.db rw - nfs4 server:/export rw
`
	for path, want := range map[string]bool{
		"/":                      true,
		"/data/locks.db":         true,
		`/data/my own\ locks.db`: true,
		"/data":                  false,
		"/srv/locks.db":          false,
		"/my own":                false,
		"/data/locks.db2":        false,
	} {
		if got := mountsAt(mounts, path); got != want {
			t.Errorf("something is mounted at %q: %v, want %v", path, got, want)
		}
	}
}
