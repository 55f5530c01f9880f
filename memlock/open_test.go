package memlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	_ "github.com/holdfast-go/holdfast/memlock"
)

// Two clients that open one name share the store, and another name is another store.
func TestOpen(t *testing.T) {
	open := func(url string) *drivertest.Facade {
		d, err := drivertest.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	name := "mem:" + t.Name()
	a, b, other := open(name), open(name), open(name+"/other")
	c := mutex("holder")
	if st, err := a.Request(t.Context(), c); err != nil || !st.Granted {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if st, err := b.Request(t.Context(), mutex("second")); err != nil || st.Granted {
		t.Errorf("a claim ended with its client: %+v, %v", st, err)
	}
	if st, err := other.Request(t.Context(), mutex("third")); err != nil || !st.Granted {
		t.Errorf("a lock blocks on one of another store: %+v, %v", st, err)
	}
}

// What is no name of a store is refused, and never ignored.
func TestOpenErrors(t *testing.T) {
	for _, url := range []string{
		"mem:", "mem:/path", "mem://host", "mem://user:pw@host/path", "mem:a?ttl=3s", "mem:a#b",
	} {
		if d, err := drivertest.Open(t.Context(), url); err == nil {
			t.Errorf("%s: opened %v", url, d)
		}
	}
}
