// Package release tells which release this program is.
package release

import (
	"os"
	"runtime"
	"strings"
)

// build is the version and, if it is known, the commit that a release was built from: its files are made from a
// checkout that may not have the tag yet. The linker sets it, and it is empty in other builds.
var build string

// A release that is asked for its version answers before packages are initialised that it does not need for that: see
// package guard, where this is done, too. If it cannot, the usual way tells why.
func init() {
	if build == "" || len(os.Args) != 2 || os.Args[1] != "version" && os.Args[1] != "--version" {
		return
	}
	if _, err := os.Stdout.WriteString(Line(build) + "\n"); err == nil {
		os.Exit(0)
	}
}

// Version is that of a release; empty in other builds.
func Version() string {
	version, _, _ := strings.Cut(build, " ")
	return version
}

// Line is what this program says of a build.
func Line(build string) string { return "holdfast " + build + " " + runtime.Version() + " " + Platform }

// Platform is what this program was built for, in Go's words.
const Platform = runtime.GOOS + "/" + runtime.GOARCH
