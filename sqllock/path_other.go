//go:build !windows

package sqllock

func ofSystem(path string) string { return path }
