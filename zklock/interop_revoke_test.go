package zklock_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/zklock"
)

// client opens a client of ours that shares locks with Curator.
func client(t *testing.T, server string) *holdfast.Client {
	c := holdfast.New(open(t, &zklock.Options{Layout: zklock.Curator}, server))
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func TestWeRevokeCurator(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t).Addr
	holder := curator.Start(t, t.TempDir(), "Curator", server, "/stock", "yield")
	holder.Tell()
	holder.Expect("held")
	c := client(t, server)
	if err := c.Revoke(limit(t), "stock"); err != nil {
		t.Fatalf("Revoke: %v", err)
	}
	holder.Expect("revoked")
	holder.Expect("released")
	lease, err := c.Mutex("stock").Lock(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(limit(t)); err != nil {
		t.Error(err)
	}
}

func TestCuratorRevokesUs(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t).Addr
	lease, err := client(t, server).Mutex("stock").Lock(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-lease.Revoked():
		t.Fatal("the lease is revoked before anybody asked")
	default:
	}
	revoker := curator.Start(t, t.TempDir(), "Curator", server, "/stock", "revoke")
	revoker.Tell()
	select {
	case <-lease.Revoked():
	case <-limit(t).Done():
		t.Fatal("Curator has revoked the lock, and its holder did not hear it")
	}
	revoker.Finish()
	if err := lease.Err(); err != nil {
		t.Errorf("the holder was asked, not made, to let go: %v", err)
	}
	if err := lease.Release(limit(t)); err != nil {
		t.Error(err)
	}
}
