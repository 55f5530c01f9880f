package sqlite

import (
	"os"
	"strconv"
	"strings"
)

// isMounted reports whether a file is mounted by itself, as into a container, so that its name is not the one in the
// folder it is from.
func isMounted(path string) (bool, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false, err
	}
	return mountsAt(string(mounts), path), nil
}

// mountsAt looks for a path among lines of mountinfo, as proc(5) describes them.
func mountsAt(mounts, path string) bool {
	const point = 4 // the field with the path
	for line := range strings.Lines(mounts) {
		if fields := strings.Fields(line); len(fields) > point && unescaped(fields[point]) == path {
			return true
		}
	}
	return false
}

// unescaped undoes what the kernel does to spaces and the like: it writes them as \ooo.
func unescaped(field string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(field, `\`)
		b.WriteString(before)
		if !found || len(rest) < 3 {
			b.WriteString(rest)
			return b.String()
		}
		if c, err := strconv.ParseUint(rest[:3], 8, 8); err == nil {
			b.WriteByte(byte(c))
		}
		field = rest[3:]
	}
}
