package sqlite

import "syscall"

// mntLocal marks a file system that is stored on this machine: MNT_LOCAL of statfs(2).
const mntLocal = 0x1000

// fileSystem names the file system of a folder, and tells whether it is one that several machines may share.
func fileSystem(folder string) (name string, network bool, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return "", false, err
	}
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name += string(rune(byte(c)))
	}
	return name, st.Flags&mntLocal == 0, nil
}
