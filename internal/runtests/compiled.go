package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	// quiet is for how long nothing may be said: people wonder whether it hangs.
	quiet = 30 * time.Second

	// often is how soon it is told that more was compiled, and atOnce when that is told for the first time.
	often  = 10 * time.Second
	atOnce = time.Second
)

// A count is how much go test has made. What its cache has is not made again, but a program of tests always is.
type count struct{ packages, programs int }

func (c count) String() string {
	return fmt.Sprintf("compiled %d packages and linked %d programs of tests", c.packages, c.programs)
}

// build takes what go test -x -json says while it builds a package: the commands that it runs, and complaints, which
// begin with a line of their own. They are shown if the build fails.
func (r *report) build(e event) {
	switch {
	case strings.Contains(e.Output, "/compile -o "):
		r.made.packages++
	case strings.Contains(e.Output, "/link -o "):
		r.made.programs++
	case strings.HasPrefix(e.Output, "# ") || r.complaints[e.ImportPath] != "":
		r.complaints[e.ImportPath] += e.Output
	}
}

// buildFailed shows why.
func (r *report) buildFailed(e event) {
	r.fail("", r.complaints[e.ImportPath])
	delete(r.complaints, e.ImportPath)
}

// patience is how long the next word may be off.
func (r *report) patience() time.Duration {
	most := quiet
	switch {
	case r.made == r.told:
	case r.told == count{}:
		most = atOnce
	default:
		most = often
	}
	return most - time.Since(r.spoke)
}
