package proof

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A store in files is held up by what holds up one of its writers. Two of these things are not the lock's doing: the
// writer was stopped, or the disk takes its time.

// isWriting reports whether a process of a group has one of the files, or a part of it, locked for itself alone. It
// asks the kernel, and says no where that does not tell.
func isWriting(group int, files []string) bool {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK ADVISORY WRITE 708 fe:00:12345 0 EOF; who waits has an arrow after the number
		word := strings.Fields(line)
		if len(word) < 6 || word[1] == "->" || word[3] != "WRITE" {
			continue
		}
		pid, err := strconv.Atoi(word[4])
		if err != nil || !slices.ContainsFunc(files, func(f string) bool { return isFile(f, word[5]) }) {
			continue
		}
		if of, err := syscall.Getpgid(pid); err == nil && of == group {
			return true
		}
	}
	return false
}

// isFile reports whether a path is that of a file as /proc/locks names it: with its inode after the numbers of its
// device.
func isFile(path, name string) bool {
	info, err := os.Stat(path)
	return err == nil && strings.HasSuffix(name, fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino))
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
