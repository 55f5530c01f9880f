//go:build !linux && !darwin && !windows

package sqlite

// fileSystem cannot tell here: users have to see to it that the file is on a local disk.
func fileSystem(string) (name string, network bool, err error) {
	return "an unknown file system", false, nil
}
