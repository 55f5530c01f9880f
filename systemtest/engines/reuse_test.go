package engines

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// ttl is that of locks whose renewals are rare: the first comes after a third of it.
const ttl = 90 * time.Second

// A lock that is kept is taken again without its servers, and goes to another client that queues, long before a renewal
// would tell of it. Backends that cannot tell who waits say so.
func TestReuse(t *testing.T) {
	onEach(t, func(t *testing.T, s store, url string) {
		ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
		defer cancel()
		owner, other, name := longLived(t, url), longLived(t, url), driver.NewID()
		m := owner.Mutex(name, holdfast.WithReuse(time.Hour))
		err := m.Do(ctx, noWork)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Logf("not on this backend: %v", err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s.pause(t)
		for range 100 {
			if err := m.Do(ctx, noWork); err != nil {
				t.Fatalf("while the servers stand still: %v", err)
			}
		}
		s.resume(t)
		for range 2 {
			if err := other.Mutex(name).Do(ctx, noWork); err != nil {
				t.Fatalf("another client: %v", err)
			}
			if err := m.Do(ctx, noWork); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// longLived returns a client whose locks live for long.
func longLived(t testing.TB, url string) *holdfast.Client {
	t.Helper()
	c, err := holdfast.Open(t.Context(), url, holdfast.WithTTL(ttl))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}
