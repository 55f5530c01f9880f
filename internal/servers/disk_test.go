//go:build linux

package servers_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// On a disk that is full nothing can be written, until there is room again.
func TestFillDisk(t *testing.T) {
	folder := servers.SmallDisk(t, 2)
	write := func() error { return os.WriteFile(filepath.Join(folder, "file"), []byte("text"), 0o600) }
	makeRoom := servers.FillDisk(t, folder)
	if err := write(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v, want %v", err, syscall.ENOSPC)
	}
	makeRoom()
	if err := write(); err != nil {
		t.Errorf("on a disk with room: %v", err)
	}
}
