package zklock

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Servers move, and the name stays: it is looked up for each round, and stands for all its addresses.
func TestNamesAreLookedUpAnew(t *testing.T) {
	t.Parallel()
	d := inside(t, Server(t).Addr)
	_, port, _ := net.SplitHostPort(d.hosts[0])
	d.hosts = []string{net.JoinHostPort("zk.example", port)}
	var asked atomic.Int32
	d.lookUp = func(_ context.Context, host string) ([]string, error) {
		if host != "zk.example" {
			t.Errorf("%q is looked up", host)
		}
		switch asked.Add(1) {
		case 1:
			return nil, context.DeadlineExceeded
		case 2:
			return []string{"127.0.0.9"}, nil // nobody is there
		default:
			return []string{"127.0.0.9", "127.0.0.1"}, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if st, err := d.Request(ctx, mutexClaim("job", 2*time.Second)); err != nil || !st.Granted {
		t.Errorf("the request answers %+v, %v", st, err)
	}
}

// A round tries all servers once, but those that did not answer only if there is no other.
func TestRoundLeavesSomeAlone(t *testing.T) {
	t.Parallel()
	r := round{shunned: &shunned{}, lookUp: func(names []string) (all []server) {
		for _, name := range names {
			all = append(all, server{name, name})
		}
		return all
	}, names: []string{"a", "b", "c"}, first: 7}
	for _, step := range []struct {
		shun string
		want []string
	}{
		{"", []string{"b", "c", "a", "b", "c", "a"}},
		{"c", []string{"b", "a", "b", "a"}},
		{"b", []string{"a", "a"}},
		{"a", []string{"b", "c", "a", "b"}}, // one may answer again
	} {
		if step.shun != "" {
			r.shunned.add(step.shun)
		}
		var got []string
		for range step.want {
			got = append(got, r.next().addr)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("without %q: tried %q, want %q", step.shun, got, step.want)
		}
	}
}
