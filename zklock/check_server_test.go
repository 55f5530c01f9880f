package zklock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// factsOf are the facts and the advice of an examination, a line each with its level.
func factsOf(findings []driver.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString([]string{"fine", "warning", "unsafe"}[f.Level] + ": " + f.Fact + " | " + f.Advice + "\n")
	}
	return b.String()
}

func examine(t *testing.T, hosts ...string) (string, error) {
	t.Helper()
	d, err := New(hosts, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	findings, err := driver.Check(ctx, d, false)
	return factsOf(findings), err
}

// mustSay examines servers until all of this is said: on a busy machine a server may answer a question too late.
func mustSay(t *testing.T, hosts []string, want ...string) (says string, err error) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		says, err = examine(t, hosts...)
		missing := slices.DeleteFunc(slices.Clone(want), func(w string) bool { return strings.Contains(says, w) })
		if len(missing) == 0 {
			return says, err
		}
		if time.Now().After(end) {
			t.Fatalf("it does not say %q:\n%s", missing, says)
		}
	}
}

// A server that serves only users that it knows begins a session for everybody, and hangs up on the first request, a
// ping too. That has nothing to do with the size of requests.
func TestServerThatWantsAUser(t *testing.T) {
	t.Parallel()
	const enforce = "-Dzookeeper.enforce.auth."
	addr := servers.ZooKeeper(t, enforce+"enabled=true", enforce+"schemes=digest").Addr
	open := func(login string) (*Driver, error) {
		u, err := driver.ParseURL("zk://" + login + addr)
		if err != nil {
			t.Fatal(err)
		}
		return Open(t.Context(), u)
	}
	_, err := open("")
	if answer, ok := errors.AsType[*driver.ServerError](err); !ok || answer.Effect != driver.Refused ||
		!strings.Contains(err.Error(), "zk://user:password@host") || strings.Contains(err.Error(), "does not answer") {
		t.Errorf("without a user, opening says %v", err)
	}
	says, err := mustSay(t, []string{addr}, "SESSIONCLOSEDREQUIRESASLAUTH")
	if !isRefused(err) {
		t.Errorf("an examination ends with %v, want a refusal", err)
	}
	if strings.Contains(says, "does not take") {
		t.Errorf("the size of requests is blamed:\n%s", says)
	}
	d, err := open("app:secret@")
	if err != nil {
		t.Fatalf("with a user: %v", err)
	}
	defer d.Close()
	if st, err := d.Request(t.Context(), mutexClaim("job", 10*time.Second)); err != nil || !st.Granted {
		t.Errorf("with a user a request answers %+v, %v", st, err)
	}
}

// Servers that run, but have no leader, say so, in the error of opening and in an examination.
func TestServersWithoutALeader(t *testing.T) {
	t.Parallel()
	all := servers.ZooKeeperEnsemble(t, 3)
	all[0].Kill(t)
	all[1].Kill(t)
	eventually(t, "the third notices", func() bool {
		return isLeaderless(all[2].ZooKeeperWord(t, "srvr"))
	})
	u, err := driver.ParseURL("zk://" + all[2].Addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), u); err == nil || !strings.Contains(err.Error(), "has no leader") {
		t.Errorf("opening says %v", err)
	}
	says, _ := mustSay(t, []string{all[2].Addr}, "warning: "+all[2].Addr+" runs, but has no leader")
	if strings.Contains(says, "start it") {
		t.Errorf("it runs already:\n%s", says)
	}
}

// The URL names servers that know nothing of each other, each of which grants the lock to somebody.
func TestServersApartInOneURL(t *testing.T) {
	t.Parallel()
	one, other := Server(t).Addr, servers.ZooKeeper(t).Addr
	mustSay(t, []string{one, other},
		"unsafe: "+one+" is a server of its own", "unsafe: "+other+" is a server of its own")

	three, another := servers.ZooKeeperEnsemble(t, 3), servers.ZooKeeperEnsemble(t, 2)
	says, _ := mustSay(t, []string{three[0].Addr, three[1].Addr, another[0].Addr},
		"unsafe: "+three[0].Addr+" and "+another[0].Addr+" are in different ensembles")
	if strings.Contains(says, "unsafe: "+three[0].Addr+" and "+three[1].Addr) {
		t.Errorf("servers of one ensemble are taken for others:\n%s", says)
	}
}

func TestObserversAlone(t *testing.T) {
	observer, voter := visit{host: "o", mode: "observer"}, visit{host: "v", mode: "follower"}
	if says := factsOf(checkTogether([]visit{observer, observer})); !strings.Contains(says, "observers alone") {
		t.Errorf("two observers: %q", says)
	}
	if says := factsOf(checkTogether([]visit{observer, voter})); says != "" {
		t.Errorf("an observer beside a voter: %q", says)
	}
}

// A server of the same protocol that is not ZooKeeper is named, and that it gives no session back is tried.
func TestServerThatPassesForZooKeeper(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	p.React(func(chunk []byte) proxy.Reaction {
		if string(chunk) == "srvr" {
			return proxy.Reaction{Answer: []byte("ClickHouse Keeper version: v26.9.1\nMode: standalone\n"), Cut: true}
		}
		return asAnewInside(chunk)
	})
	for range 2 { // it says the same each time
		mustSay(t, []string{p.Addr}, "runs ClickHouse Keeper v26.9.1", "gives no session back")
	}
	ours := Server(t).Addr
	mustSay(t, []string{ours}, "fine: "+ours+" gives a session back", "is standalone")
}

// asAnewInside opens each session as a new one.
func asAnewInside(chunk []byte) proxy.Reaction {
	if len(chunk) > wantedEnd && slices.Equal(chunk[lengthEnd:knownAt], make([]byte, 4)) {
		clear(chunk[wantedAt:wantedEnd])
	}
	return proxy.Reaction{Pass: chunk}
}
