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
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Start is when a run began, and how busy the machine was then with other work.
type Start struct {
	at   time.Time
	load string
}

// Begin notes the start of a run.
func Begin() Start { return Start{at: time.Now(), load: loadAverage()} }

// Facts describes this machine, the server and the run.
func Facts(server string, start Start) []Fact {
	return []Fact{
		{"date", start.at.UTC().Format(time.DateOnly)},
		{"took", time.Since(start.at).Round(time.Second).String()},
		{"other work", start.load},
		{"machine", fmt.Sprintf("%s/%s, %d cores (%s) for server and clients together, loopback network",
			runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())},
		{"server", server},
		{"go", strings.TrimPrefix(runtime.Version(), "go")},
	}
}

// loadAverage says how many processes wanted a core in the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return "load average " + minute + " when the run began; on a quiet machine it is near 0"
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
