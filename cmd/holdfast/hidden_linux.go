package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hidden is what to tell when a folder is not the one that the rest of this machine has under its path, as in a service
// with PrivateTmp or ProtectHome. The rest is what the first process sees. In a container with processes of its own
// that is the container, and there is nothing to compare with.
func hidden(folder string) error {
	here, err := placeOf("/proc/self/mountinfo", folder)
	if err != nil {
		return nil
	}
	there, err := placeOf("/proc/1/mountinfo", folder)
	if err != nil || here == there {
		return nil
	}
	return fmt.Errorf("default backend: %s is on a private mount, so programs outside share none of these locks; "+
		"name a file that all of them see with --backend or %s", folder, backendEnv)
}

// placeOf says on which file system a folder is, and where on it, for a process with these mounts.
func placeOf(mountinfo, folder string) (place string, err error) {
	f, err := os.Open(mountinfo)
	if err != nil {
		return "", err
	}
	defer f.Close()
	deepest := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// ID PARENT DEVICE ROOT POINT ..., and a later mount covers an earlier one.
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		device, root, point := fields[2], unescape(fields[3]), unescape(fields[4])
		if rest, ok := below(point, folder); ok && len(point) >= deepest {
			deepest, place = len(point), device+" "+filepath.Join(root, rest)
		}
	}
	return place, lines.Err()
}

// below returns the path of a folder seen from one above it.
func below(point, folder string) (rest string, ok bool) {
	rest, err := filepath.Rel(point, folder)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// unescape undoes what the kernel does to white space in paths.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
