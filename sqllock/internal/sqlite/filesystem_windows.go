package sqlite

import (
	"path/filepath"
	"syscall"
	"unsafe"
)

// What GetDriveTypeW says of a volume of another machine.
const driveRemote = 4

var getDriveType = syscall.NewLazyDLL("kernel32.dll").NewProc("GetDriveTypeW")

// fileSystem names the volume of a folder, and tells whether it is one that several machines may share. Both a drive
// letter and a path that begins with the name of a server may stand for a folder of that server.
func fileSystem(folder string) (name string, network bool, err error) {
	if linked, err := filepath.EvalSymlinks(folder); err == nil {
		folder = linked // a junction may lead to a server
	}
	volume := filepath.VolumeName(folder)
	if isOnServer(volume) {
		return "the network folder " + volume, true, nil
	}
	root, err := syscall.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", false, err
	}
	kind, _, _ := getDriveType.Call(uintptr(unsafe.Pointer(root)))
	if kind == driveRemote {
		return "the network drive " + volume, true, nil
	}
	return "a local volume, " + volume, false, nil
}
