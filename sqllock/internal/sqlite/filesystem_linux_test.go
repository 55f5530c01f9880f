package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// File systems by the numbers of statfs(2), from linux/magic.h and the documentation of those that are not in it.
func TestSharedFileSystems(t *testing.T) {
	for _, row := range []struct {
		name    string
		number  uint32
		network bool
	}{
		{"ext4", 0xef53, false},
		{"xfs", 0x58465342, false},
		{"btrfs", 0x9123683e, false},
		{"zfs", 0x2fc12fc1, false},
		{"tmpfs", 0x01021994, false},
		{"overlay", 0x794c7630, false},
		{"f2fs", 0xf2f52010, false},
		{"NFS", 0x6969, true},
		{"SMB", 0x517b, true},
		{"SMB2", 0xfe534d42, true},
		{"CIFS", 0xff534d42, true},
		{"9p", 0x01021997, true},
		{"FUSE", 0x65735546, true},
		{"Ceph", 0x00c36400, true},
		{"Lustre", 0x0bd00bd0, true},
		{"GFS2", 0x01161970, true},
		{"OCFS2", 0x7461636f, true},
		{"GPFS", 0x47504653, true},
		{"AFS", 0x5346414f, true},
	} {
		name, network := nameOf(row.number)
		if network != row.network {
			t.Errorf("%s: taken for a network file system: %v, want %v", row.name, network, row.network)
		}
		if row.network && name != row.name {
			t.Errorf("%s is called %s", row.name, name)
		}
		err := refusal("/folder", name)
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: the error is %v", row.name, err)
		}
		if row.network && (!strings.Contains(err.Error(), row.name) || !strings.Contains(err.Error(), "local disk")) {
			t.Errorf("%s: %q says neither what is wrong nor what to do", row.name, err)
		}
	}
}
