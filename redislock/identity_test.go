package redislock_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// Locks of one name on two servers are taken together if their stores have names, and refused if they do not.
func TestLockAllOnTwoServers(t *testing.T) {
	one, two := servers.Redis(t), servers.Redis(t)
	mutex := func(server *servers.Server, opts *redislock.Options) *holdfast.Mutex {
		d, err := redislock.New(rawClient(t, server.Addr), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return holdfast.New(d).Mutex("jobs")
	}
	_, err := holdfast.LockAll(t.Context(), mutex(one, nil), mutex(two, nil))
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without names: %v, want ErrUnsupported", err)
	}
	named := func(name string) *redislock.Options { return &redislock.Options{Store: name} }
	all, err := holdfast.LockAll(t.Context(), mutex(one, named("one")), mutex(two, named("two")))
	if err != nil {
		t.Fatalf("with names: %v", err)
	}
	if err := all.Release(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = holdfast.LockAll(t.Context(), mutex(one, named("one")), mutex(one, named("one")))
	if !errors.Is(err, holdfast.ErrDeadlock) {
		t.Errorf("one store through two clients: %v, want ErrDeadlock", err)
	}
}

// Under another prefix, or in another layout, there are other locks.
func TestIdentity(t *testing.T) {
	client := rawClient(t, servers.Redis(t).Addr)
	seen := make(map[string]bool)
	for _, opts := range []redislock.Options{
		{}, {Prefix: "other:"}, {NoPrefix: true},
		{Layout: redislock.Redisson}, {Layout: redislock.PythonRedisLock}, {Layout: redislock.Redisson, Prefix: "x"},
	} {
		opts.Store = "store"
		d, err := redislock.New(client, &opts)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if id := d.Traits().Store; id == "" || seen[id] {
			t.Errorf("the identity of %+v is %q, which is none, or another's", opts, id)
		} else {
			seen[id] = true
		}
	}
}
