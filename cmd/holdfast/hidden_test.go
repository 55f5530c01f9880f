//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Each row is a folder with the mounts of two processes, and whether they have the same folder under that path.
func TestPlaceOf(t *testing.T) {
	const base = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 8:2 / /home rw - ext4 /dev/sda2 rw\n"
	for _, row := range []struct {
		name, folder, one, other string
		same                     bool
	}{
		{"one namespace", "/home/a/.local", base, base, true},
		{"another file system", "/home/a/.local", base, base + "30 21 0:50 / /home rw - tmpfs tmpfs rw\n", false},
		{"PrivateTmp", "/var/tmp/x", base, base +
			"30 20 8:1 /var/tmp/systemd-private-1/tmp /var/tmp rw - ext4 /dev/sda1 rw\n", false},
		{"made read-only elsewhere", "/var/lib/x", base, base + "30 20 8:1 /usr /usr ro - ext4 /dev/sda1 rw\n", true},
		{"bound to itself", "/var/lib/x", base, base + "30 20 8:1 /var/lib/x /var/lib/x rw - ext4 /dev/sda1 rw\n",
			true},
		{"a mount on a part of the name", "/var/libs/x", base, base + "30 20 0:50 / /var/lib rw - tmpfs tmpfs rw\n",
			true},
		{"a name with a blank", "/a b/x", base, base + "30 20 0:50 / /a\\040b rw - tmpfs tmpfs rw\n", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			place := func(mounts string) string {
				path := filepath.Join(t.TempDir(), "mountinfo")
				ok(t, os.WriteFile(path, []byte(mounts), 0o600))
				place, err := placeOf(path, row.folder)
				ok(t, err)
				return place
			}
			if one, other := place(row.one), place(row.other); (one == other) != row.same {
				t.Errorf("%s is %q for one and %q for the other; want the same: %v", row.folder, one, other, row.same)
			}
		})
	}
}
