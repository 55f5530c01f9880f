package zklock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
)

// A visit is what was found at one server.
type visit struct {
	host     string
	mode     string   // leader, follower, observer, read-only or standalone; empty when that is not known
	ensemble []string // the voters and observers that it knows of, sorted; nil when that is not known
	foreign  bool     // it is no ZooKeeper
	findings []driver.Finding
}

func (v visit) isForeign() bool { return v.foreign }

// The ways in which servers name themselves.
const (
	ourVersion    = "Zookeeper version: "
	keeperVersion = "ClickHouse Keeper version: "
)

// startMajority is the advice for servers that have lost the others.
const startMajority = "see that a majority of the servers runs, and that they reach each other"

// isLeaderless reports whether a server says that it serves nobody, because it has no leader.
func isLeaderless(says string) bool { return strings.Contains(says, notServing) }

const notServing = "not currently serving requests"

// visit looks at one server's product, version, part and configuration.
func (d *Driver) visit(ctx context.Context, host string) (v visit) {
	v.host = host
	srvr, err := d.ask(ctx, host, "srvr")
	version, ours := valueOf(srvr, ourVersion)
	keeper, isKeeper := valueOf(srvr, keeperVersion)
	v.mode, _ = valueOf(srvr, "Mode: ")
	switch {
	case err != nil && srvr == "":
		v.add(driver.Warning, host+" does not answer: "+err.Error(),
			"start it, or take it out of the URL; a majority must answer")
		return v
	case isLeaderless(srvr):
		v.add(driver.Warning, host+" runs, but has no leader, so it serves nobody", startMajority)
		return v
	case isKeeper:
		v.foreign = true
		v.add(driver.Warning, host+" runs ClickHouse Keeper "+version+keeper+", which is not ZooKeeper", keeperAdvice)
	case !ours:
		v.add(driver.Warning, host+" does not tell its version",
			"allow the word srvr in its 4lw.commands.whitelist for the time of a check. Servers that only speak "+
				"ZooKeeper's protocol, such as zetcd, do not know the word: locks were not tried on these")
	default:
		v.findings = append(v.findings, checkVersion(host, version))
		v.findings = append(v.findings, knownfaults.Findings(knownfaults.ZooKeeper, version)...)
	}
	v.checkMode()
	if conf, err := d.ask(ctx, host, "conf"); err == nil {
		v.ensemble = membersIn(conf)
		v.findings = append(v.findings, checkTick(host, conf)...)
		v.findings = append(v.findings, checkShortest(host, conf)...)
		v.findings = append(v.findings, checkElection(host, conf)...)
	}
	v.findings = append(v.findings, d.checkResumption(ctx, host), d.checkBuffer(ctx, host))
	return v
}

// keeperAdvice says what was tried with ClickHouse Keeper.
const keeperAdvice = "prefer ZooKeeper: Keeper gives no session back, so a client loses all its locks with each " +
	"broken connection. It was tried as far as that the holder is told at once; other tests run on ZooKeeper alone"

func (v *visit) add(level driver.Level, fact, advice string) {
	v.findings = append(v.findings, driver.Finding{Level: level, Fact: fact, Advice: advice})
}

// checkVersion knows which versions have parents that go by themselves.
func checkVersion(host, version string) driver.Finding {
	number, _, _ := strings.Cut(version, "-")
	number, _, _ = strings.Cut(number, ",")
	f := driver.Finding{Fact: host + " runs ZooKeeper " + number}
	var major, minor, patch int
	if n, _ := fmt.Sscanf(number, "%d.%d.%d", &major, &minor, &patch); n < 3 {
		return f
	}
	if major < 3 || major == 3 && (minor < 5 || minor == 5 && patch < 3) {
		f.Level, f.Advice = driver.Warning, "update to 3.5.3 or newer: this one knows no containers, "+
			"so an empty node stays behind for each lock"
	}
	return f
}

// checkMode looks at the part that the server plays.
func (v *visit) checkMode() {
	switch v.mode {
	case "":
	case "read-only":
		v.add(driver.Warning, v.host+" has lost the majority, and only reads", startMajority)
	default:
		v.add(driver.Fine, v.host+" is "+article(v.mode)+v.mode, "")
	}
}

func article(mode string) string {
	switch mode {
	case "standalone":
		return ""
	case "observer":
		return "an "
	default:
		return "a "
	}
}

// checkTogether looks at whether the servers of the URL are one ensemble. Those of different ones grant the same lock
// to several.
func checkTogether(visits []visit) (findings []driver.Finding) {
	first := slices.IndexFunc(visits, func(v visit) bool { return v.ensemble != nil })
	for _, v := range visits {
		if v.mode == "standalone" && len(visits) > 1 && !v.foreign {
			findings = append(findings, driver.Finding{Level: driver.Unsafe,
				Fact:   v.host + " is a server of its own, and the URL names others beside it",
				Advice: "name servers of one ensemble only: a lock can be granted by each of these"})
		}
		if v.ensemble != nil && !slices.Equal(v.ensemble, visits[first].ensemble) {
			findings = append(findings, driver.Finding{Level: driver.Unsafe,
				Fact:   fmt.Sprintf("%s and %s are in different ensembles", visits[first].host, v.host),
				Advice: "name servers of one ensemble only: a lock can be granted by each of these"})
		}
	}
	if !slices.ContainsFunc(visits, visit.mayVote) {
		findings = append(findings, driver.Finding{Level: driver.Warning,
			Fact:   "the URL names observers alone",
			Advice: "name servers that vote, too: renewals take longer through an observer, and it may fall behind"})
	}
	return findings
}

// mayVote reports whether a server is not known to be an observer.
func (v visit) mayVote() bool { return v.mode != "observer" }

// membersIn are the servers in a server's configuration; nil where it has none.
func membersIn(conf string) (members []string) {
	for line := range strings.Lines(conf) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "server.") {
			members = append(members, line)
		}
	}
	slices.Sort(members)
	return members
}
