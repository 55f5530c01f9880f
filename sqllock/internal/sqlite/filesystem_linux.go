package sqlite

import (
	"fmt"
	"syscall"
)

// shared are the file systems that more than one machine may use at once, by their numbers for statfs(2). FUSE and 9p
// are among them because they also serve remote folders and virtual machines, and do not say so. An overlay is not,
// because this kernel joins its layers.
var shared = map[uint32]string{
	0x00006969: "NFS",
	0x0000517b: "SMB",
	0xfe534d42: "SMB2",
	0xff534d42: "CIFS",
	0x01021997: "9p",
	0x65735546: "FUSE",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x0000564c: "NCP",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x47504653: "GPFS",
	0x19830326: "BeeGFS",
	0x20030528: "OrangeFS",
	0x786f4256: "a folder shared by VirtualBox",
	0xbacbacbc: "a folder shared by VMware",
	0x7c7c6673: "a folder shared by Parallels",
}

// fileSystem names the file system of a folder, and tells whether it is one that several machines may share.
func fileSystem(folder string) (name string, network bool, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return "", false, err
	}
	name, network = nameOf(uint32(st.Type))
	return name, network, nil
}

func nameOf(number uint32) (name string, network bool) {
	if name, ok := shared[number]; ok {
		return name, true
	}
	return fmt.Sprintf("a local file system (%#x)", number), false
}
