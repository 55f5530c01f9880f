//go:build !linux && !darwin && !windows

package sqlite

// fileSystem knows nothing here: to keep the file on a local disk is up to its users.
func fileSystem(string) (name string, network bool, err error) {
	return "an unknown file system", false, nil
}
