package main

import (
	"slices"
	"strings"

	// Memlock is not among them: its locks are for the goroutines of one process.
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/sqllock"

	"github.com/holdfast-go/holdfast/driver"
)

// A component is what a build can leave out, by a tag of the go command: what serves one engine.
type component struct {
	tag     string
	schemes []string // of the URLs of its backends
}

// components are all that there are, in the order in which they are told. The file of each says that it is in this
// build, and imports what it needs.
var components = []component{
	{"no_sqlite", []string{"file"}},
	{"no_redis", []string{"redis", "rediss", "redis+unix", "redis-sentinel", "redis-cluster", "redlock"}},
	{"no_etcd", []string{"etcd"}},
	{"no_zookeeper", []string{"zk"}},
	{"no_mysql", []string{"mysql"}},
	{"no_postgres", []string{"postgres"}},
}

// inBuild has the tags without which this build was made: those of the engines that are in it.
var inBuild = map[string]bool{}

// schemes are the URL schemes of the backends that this build has.
func schemes() (all []string) {
	for _, e := range components {
		if inBuild[e.tag] {
			all = append(all, e.schemes...)
		}
	}
	return all
}

// checkScheme refuses a scheme that this build has no engine for.
func checkScheme(scheme string) error {
	for _, e := range components {
		switch {
		case !slices.Contains(e.schemes, scheme):
		case inBuild[e.tag]:
			return nil
		default:
			return usage("this command was built with the tag %s, so it has no backend for %q; use one that was built "+
				"without it, or another backend of this one: %s", e.tag, scheme+":", strings.Join(schemes(), " "))
		}
	}
	if form := driver.URLForm(scheme); form != "" {
		return usage("this command has no backend for %q; the form is %s", scheme+":", form)
	}
	return usage("this command has no backend for %q; it has: %s", scheme+":", strings.Join(schemes(), " "))
}
