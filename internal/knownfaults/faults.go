// Package knownfaults is a table of faults of servers that matter to locks, by what the servers' own projects say of
// them. Drivers that know the version of a server add to their findings which of these faults it has.
package knownfaults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Checked is the day on which the table was compared with the projects' issues and release notes.
const Checked = "2026-11-26"

// The engines, as people know them.
const (
	Etcd       = "etcd"
	Redis      = "Redis"
	Valkey     = "Valkey"
	ZooKeeper  = "ZooKeeper"
	PostgreSQL = "PostgreSQL"
	MariaDB    = "MariaDB"
	MySQL      = "MySQL"
	SQLite     = "SQLite"
)

// A Setup is how a server is used, where a fault matters to that only.
type Setup string

const (
	InCluster     Setup = "cluster"       // Redis Cluster
	WithSentinels Setup = "sentinels"     // Redis behind sentinels
	WithGalera    Setup = "galera"        // MariaDB with wsrep_on
	BlockingPops  Setup = "blocking pops" // layout=python-redis-lock
)

// A Fault is one of a server.
//
// Its level is Unsafe if it can have a lock lost, or held twice, without much else going wrong; Warning if that takes a
// crash in a bad moment, or settings that few use; and Fine if there is nothing to do about it but to know: no release
// is without it, or the version does not tell, because distributions mend it without another number.
type Fault struct {
	Engine string
	In     []Range
	Only   Setup // empty: however it is used
	Ref    string
	Costs  string // what it can cost a lock
	Level  driver.Level
	Take   string // what to upgrade to; empty: the first releases without the fault
}

// A Range is of versions, like 3.5.0 to 3.5.13.
type Range struct {
	From   string // the first that has the fault; empty: they all had
	Before string // the first that has not; empty: there is none yet
}

// Of returns the faults of a version, which may have less than three parts: those that all its releases have, and those
// that some have.
func Of(engine, version string, setups ...Setup) (all, some []Fault) {
	number := parse(version)
	if number == nil {
		return nil, nil
	}
	for _, f := range table {
		if f.Engine != engine || f.Only != "" && !slices.Contains(setups, f.Only) {
			continue
		}
		switch f.has(number) {
		case inAll:
			all = append(all, f)
		case inSome:
			some = append(some, f)
		}
	}
	return all, some
}

// Findings says which faults a server has that told its version.
func Findings(engine, version string, setups ...Setup) (findings []driver.Finding) {
	all, _ := Of(engine, version, setups...)
	for _, f := range all {
		findings = append(findings, f.finding(plain(version)))
	}
	return findings
}

func (f Fault) finding(version string) driver.Finding {
	found := driver.Finding{
		Level: f.Level,
		Fact:  fmt.Sprintf("%s %s has a known fault: %s (%s, as of %s)", f.Engine, version, f.Costs, f.Ref, Checked),
	}
	switch mended := f.mended(); {
	case f.Level == driver.Fine:
	case mended == "":
		found.Advice = "no release is without it; guard what matters with the fencing token"
	default:
		found.Advice = "upgrade to " + mended + ", or a later one of its line"
	}
	return found
}

// mended names the releases to upgrade to.
func (f Fault) mended() string {
	if f.Take != "" {
		return f.Take
	}
	var first []string
	for _, r := range f.In {
		if r.Before != "" {
			first = append(first, r.Before)
		}
	}
	return strings.Join(first, " or ")
}

// The part of the releases that a number stands for which has a fault.
type part int

const (
	inNone part = iota
	inSome
	inAll
)

// has judges a version of three parts, or all releases of a line that is named by less.
func (f Fault) has(number []int) (worst part) {
	next := slices.Clone(number)
	next[len(next)-1]++
	for _, r := range f.In {
		from, before := parse(r.From), parse(r.Before)
		isAfter := r.From != "" && compare(next, from) <= 0
		isOver := r.Before != "" && compare(number, before) >= 0
		switch {
		case isAfter || isOver:
		case (r.From == "" || compare(number, from) >= 0) && (r.Before == "" || compare(next, before) <= 0):
			return inAll
		default:
			worst = inSome
		}
	}
	return worst
}

// parse reads the numbers that a version begins with; nil if it begins with none.
func parse(version string) (number []int) {
	for text := range strings.SplitSeq(plain(version), ".") {
		n := 0
		if _, err := fmt.Sscan(text, &n); err != nil {
			return number
		}
		number = append(number, n)
	}
	return number
}

// plain is what a version begins with: numbers with points between.
func plain(version string) string {
	if end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		version = version[:end]
	}
	return strings.Trim(version, ".")
}

// compare compares numbers; a part that is missing is zero.
func compare(a, b []int) int {
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(partOf(a, i), partOf(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func partOf(number []int, i int) int {
	if i < len(number) {
		return number[i]
	}
	return 0
}
