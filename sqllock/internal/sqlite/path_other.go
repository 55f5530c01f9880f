//go:build !windows

package sqlite

func ofSystem(path string) string { return path }
