package zklock

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Check examines the servers, as [driver.Checker] says. It asks each server by the words srvr and conf, and says so if
// the administrator has not allowed them. It finds out how large a request a server takes by requests of that size,
// which change nothing, and whether it gives a session back after a broken connection by breaking one.
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	if d.lifetime.Err() != nil {
		return nil, driver.ErrClosed
	}
	visits := make([]visit, len(d.hosts))
	forEach(len(d.hosts), func(i int) { visits[i] = d.visit(ctx, d.hosts[i]) })
	var findings []driver.Finding
	for _, v := range visits {
		for _, f := range v.findings {
			if !slices.Contains(findings, f) { // servers of one version have the same faults
				findings = append(findings, f)
			}
		}
	}
	findings = append(findings, checkTogether(visits)...)
	s, err := d.asking(ctx)
	if err != nil {
		return findings, err
	}
	members, err := s.members(ctx)
	if err != nil && !isRefused(err) {
		return findings, err
	}
	if err == nil && !slices.ContainsFunc(visits, visit.isForeign) {
		findings = append(findings, checkSize(members))
	}
	if t, err := d.traitsInTime(ctx); err == nil && t.MaxTTL > 0 {
		findings = append(findings, checkLongest(t.MaxTTL))
	}
	return findings, nil
}

// checkTick looks at how often the other servers tell the leader who is alive.
func checkTick(host, conf string) []driver.Finding {
	tick, ok := millisecondsOf(conf, "tickTime=")
	if !ok {
		return nil
	}
	f := driver.Finding{Fact: fmt.Sprintf("%s has ticks of %v", host, tick)}
	if tick/2 > slackMost {
		f.Level, f.Advice = driver.Warning,
			"set tickTime to 2000 or less: when a server and a holder's connection fail in the same tick, "+
				"the lock could be free before the holder knows"
	}
	return []driver.Finding{f}
}

// usualTTL is what most locks ask for.
const usualTTL = 15 * time.Second

// checkShortest looks at how long the locks of a client that died stay taken at least, and at whether the slack of the
// shortest sessions covers the half tick in which a leader may not have heard of them.
func checkShortest(host, conf string) []driver.Finding {
	shortest, ok := millisecondsOf(conf, "minSessionTimeout=")
	if !ok {
		return nil
	}
	f := driver.Finding{Fact: fmt.Sprintf("%s keeps sessions for %v or more", host, shortest)}
	if shortest > usualTTL {
		f.Level, f.Advice = driver.Warning, "lower minSessionTimeout: "+
			"the locks of a client that died stay taken for so long, whatever TTL it asked for"
	}
	if tick, ok := millisecondsOf(conf, "tickTime="); ok && slack(shortest) < min(tick/2, slackMost) {
		f.Level, f.Advice = driver.Warning, "set minSessionTimeout to two ticks or more, or ask for no shorter TTL: "+
			"when a server and a holder's connection fail in the same tick, "+
			"the lock could be free before the holder knows"
	}
	return []driver.Finding{f}
}

// checkElection looks at when the servers notice that their leader is cut off; until then, and until they have
// another, nothing can be renewed. A renewal is due when a third of the TTL has passed.
func checkElection(host, conf string) []driver.Finding {
	tick, ok := millisecondsOf(conf, "tickTime=")
	text, member := valueOf(conf, "syncLimit=")
	ticks, err := strconv.Atoi(text)
	if !ok || !member || err != nil {
		return nil
	}
	notices := time.Duration(ticks) * tick
	f := driver.Finding{Fact: fmt.Sprintf("%s notices after %v that its leader is cut off", host, notices)}
	if notices+tick > usualTTL*2/3 {
		f.Level, f.Advice = driver.Warning, fmt.Sprintf("lower syncLimit, or ask for a longer TTL than the usual %v: "+
			"holders whose renewal falls into an election may lose their locks", usualTTL)
	}
	return []driver.Finding{f}
}

func checkLongest(longest time.Duration) driver.Finding {
	f := driver.Finding{Fact: fmt.Sprintf("claims may live for up to %v unless renewed", longest)}
	if longest < usualTTL {
		f.Level, f.Advice = driver.Warning, fmt.Sprintf(
			"raise maxSessionTimeout, or ask for a shorter TTL than the usual %v everywhere", usualTTL)
	}
	return f
}

func checkSize(members int) driver.Finding {
	f := driver.Finding{Fact: fmt.Sprintf("the ensemble has %d members", members)}
	if members < 3 {
		f.Level, f.Advice = driver.Warning, "run 3 or 5: with fewer, the loss of one server stops all locks"
	}
	return f
}

// members counts the servers in the ensemble's configuration; a server of its own has none there.
func (s *session) members(ctx context.Context) (int, error) {
	config, err := s.getIfThere(ctx, "/"+reserved+"/config")
	return max(1, strings.Count("\n"+string(config.data), "\nserver.")), err
}

// checkPatience is how long one question to one server may take.
const checkPatience = 2 * time.Second

// ask sends one of ZooKeeper's four-letter words.
func (d *Driver) ask(ctx context.Context, host, word string) (string, error) {
	conn, err := d.opts.connector()(ctx, server{host, host}, checkPatience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	conn.SetDeadline(time.Now().Add(checkPatience))
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 1<<16))
	return string(answer), err
}

// millisecondsOf is a time in a server's configuration.
func millisecondsOf(conf, key string) (time.Duration, bool) {
	text, ok := valueOf(conf, key)
	ms, err := strconv.Atoi(text)
	return time.Duration(ms) * time.Millisecond, ok && err == nil
}

// valueOf is what follows a key at the beginning of a line.
func valueOf(answer, key string) (string, bool) {
	for line := range strings.Lines(answer) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
