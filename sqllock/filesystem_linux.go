package sqllock

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/holdfast-go/holdfast/driver"
)

// networks are the file systems on which locks of other machines may not be seen, or not kept: statfs(2). FUSE is among
// them since it hides what lies behind. Overlay file systems are local.
var networks = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
	0x01021997: "9p",
	0x65735546: "FUSE",
	0x5346414f: "AFS",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x19830326: "BeeGFS",
	0x73757245: "Coda",
	0x786f4256: "a VirtualBox share",
}

// fileSystem names the kind of file system that a file is on.
func fileSystem(path string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &st); err != nil {
		return "", fmt.Errorf("statfs %s: %w", filepath.Dir(path), err)
	}
	if name, ok := networks[uint32(st.Type)]; ok {
		return name, nil
	}
	return fmt.Sprintf("a local file system (type %#x)", uint32(st.Type)), nil
}

// refuseNetwork refuses a file on a network file system.
func refuseNetwork(path string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &st); err != nil {
		return fmt.Errorf("statfs %s: %w", filepath.Dir(path), err)
	}
	return refuseType(path, uint32(st.Type))
}

func refuseType(path string, fsType uint32) error {
	if name, ok := networks[fsType]; ok {
		return fmt.Errorf("%w: %s is on %s, whose locks cannot be trusted; use a local folder, or another backend",
			driver.ErrRefused, path, name)
	}
	return nil
}
