package proof

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/locked"
)

// A store in files is held up by what holds up one of its writers. Two of these things are not the lock's doing: the
// writer was stopped, or the disk takes its time.

// isWriting reports whether a process of a group has one of the files locked for itself alone.
func isWriting(group int, files []string) bool {
	return locked.By(func(pid int) bool {
		of, err := syscall.Getpgid(pid)
		return err == nil && of == group
	}, files...)
}

// slowDisk is how long a disk may take to write before it counts as stalled. Writers come one after the other, so that
// a few times as long is a good part of a TTL.
const slowDisk = 50 * time.Millisecond

// watchDisk tells of the spans that a file in a folder took to reach the disk when these were long, until ctx ends.
func watchDisk(ctx context.Context, folder string, tell func(Span)) error {
	f, err := os.Create(filepath.Join(folder, "disk"))
	if err != nil {
		return err
	}
	defer f.Close()
	for err == nil && ctx.Err() == nil {
		time.Sleep(slowDisk)
		from := now()
		if _, err = f.WriteAt([]byte(from.String()), 0); err == nil {
			err = f.Sync()
		}
		if at := now(); at-from > slowDisk {
			tell(Span{from, at})
		}
	}
	return err
}
