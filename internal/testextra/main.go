// Command testextra runs tests on other versions of servers than the usual ones, and says how each fared.
//
//	testextra [-json FILE] [-logs FOLDER] [NAME...]
//
// The names are those of internal/servers/versions.go; without any, all versions are tried. Each is unpacked by
// scripts/servers-extra.sh first. What its tests say goes to a file in the folder. In the end there is a table, and the
// exit code is 1 if tests failed. A version that was not tried, because it could not be had, fails too.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func main() {
	into := flag.String("json", "", "the file that results are written to, too")
	logs := flag.String("logs", "bin/extra", "the folder of what the tests say")
	flag.Parse()
	ok, err := run(*into, *logs, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "testextra:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(into, logs string, names []string) (ok bool, err error) {
	versions, err := named(names)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return false, err
	}
	var results []result
	ok = true
	for i, v := range versions {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(versions), v.Name)
		r := try(v, filepath.Join(logs, v.Name+".log"))
		fmt.Fprintf(os.Stderr, "%s: %s\n", v.Name, r.Result)
		results, ok = append(results, r), ok && r.Result == passed
	}
	show(os.Stdout, results)
	if into == "" {
		return ok, nil
	}
	text, err := json.MarshalIndent(results, "", "\t")
	if err != nil {
		return false, err
	}
	return ok, os.WriteFile(into, append(text, '\n'), 0o644)
}

// named are the versions of these names, or all that can be had.
func named(names []string) (list []servers.Version, err error) {
	for _, name := range names {
		v, ok := servers.Named(name)
		if !ok {
			return nil, fmt.Errorf("there is no version %q in internal/servers/versions.go", name)
		}
		list = append(list, v)
	}
	for _, v := range servers.Versions {
		if len(names) == 0 && v.Name != "" {
			list = append(list, v)
		}
	}
	return list, nil
}

// A result is how a version fared.
type result struct {
	Name    string   `json:"name"`
	Engine  string   `json:"engine"`
	Version string   `json:"version"` // as the server tells it
	Suites  []string `json:"suites"`  // those that passed
	Result  string   `json:"result"`
	Seconds float64  `json:"seconds"`
	Log     string   `json:"log"`
}

// passed is the result of a version on which nothing failed.
const passed = "passed"

// try unpacks a version, and runs its suites.
func try(v servers.Version, log string) (r result) {
	began := time.Now()
	r = result{Name: v.Name, Engine: v.Engine, Suites: []string{}, Result: passed, Log: log}
	defer func() { r.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds() }()
	out, err := os.Create(log)
	if err != nil {
		r.Result = err.Error()
		return r
	}
	defer out.Close()
	if r.Version, err = unpack(v, out); err != nil {
		r.Result = err.Error()
		return r
	}
	for _, s := range suites(v) {
		if err := s.run(v.Name, out); err != nil {
			r.Result = s.name + " failed"
			return r
		}
		r.Suites = append(r.Suites, s.name)
	}
	return r
}

// show prints a table of results, and what there is to do about them.
func show(to io.Writer, results []result) {
	fmt.Fprintln(to)
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tIT SAYS\tPASSED\tRESULT\tSECONDS")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.0f\n",
			r.Name, r.Version, strings.Join(r.Suites, ", "), r.Result, r.Seconds)
	}
	table.Flush()
	for _, r := range results {
		if v, _ := servers.Named(r.Name); r.Version != "" && r.Version != v.Number {
			fmt.Fprintf(to, "%s is %s in internal/servers/versions.go, and %s here: change it there\n",
				r.Name, v.Number, r.Version)
		}
		if r.Result != passed {
			fmt.Fprintf(to, "%s: %s; see %s\n", r.Name, r.Result, r.Log)
		}
	}
}
