package sqlite

import (
	"os"
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
		if fields := strings.Fields(line); len(fields) > point && escapes.Replace(fields[point]) == path {
			return true
		}
	}
	return false
}

// escapes is how the kernel writes spaces and the like.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
