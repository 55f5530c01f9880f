package report

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// A Fact says something about the machine or the run.
type Fact struct{ Name, Value string }

// Facts describes this machine and the server.
func Facts(server string, started time.Time) []Fact {
	return []Fact{
		{"date", started.UTC().Format(time.DateOnly)},
		{"took", time.Since(started).Round(time.Second).String()},
		{"machine", fmt.Sprintf("%s/%s, %d cores (%s) for server and clients together, loopback network",
			runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())},
		{"server", server},
		{"go", strings.TrimPrefix(runtime.Version(), "go")},
	}
}

// processor returns the model of the first processor.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown model"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimLeft(name, "\t :")
		}
	}
	return "unknown model"
}

// versionOf returns the version of a module that is linked into this program.
func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return strings.Trim(cmp.Or(dep.Version, "(devel)"), "()")
		}
	}
	return ""
}
