package sqllock

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		magic uint32
		local bool
	}{
		"ext4": {0xef53, true}, "xfs": {0x58465342, true}, "btrfs": {0x9123683e, true}, "tmpfs": {0x01021994, true},
		"overlay": {0x794c7630, true}, "NFS": {0x6969, false}, "CIFS": {0xff534d42, false}, "SMB2": {0xfe534d42, false},
		"9p": {0x01021997, false}, "FUSE": {0x65735546, false},
	} {
		err := refuseType("/srv/locks.db", row.magic)
		if row.local != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (!errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "/srv/locks.db")) {
			t.Errorf("%s: %v says too little", name, err)
		}
	}
}
