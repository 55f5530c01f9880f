//go:build !linux

package sqlite

// isMounted is not known: elsewhere, files are not mounted by themselves.
func isMounted(string) (bool, error) { return false, nil }
