package etcdlock_test

import (
	"slices"
	"testing"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// Each lock is listed once, though in the layout of others the keys of "jobs" come before and after those of "jobs/a".
// A key that Holdfast would not have made is on no lock, even if it can be read as one.
func TestListOfNamesWithinNames(t *testing.T) {
	t.Parallel()
	names := []string{"jobs", "jobs-x", "jobs.x", "jobs/a", "jobs/a/b", "jobs/a/c", "jobs/z", "jobs~"}
	for _, layout := range []etcdlock.Layout{etcdlock.Native, etcdlock.Concurrency} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			d := open(t, &etcdlock.Options{Layout: layout}, servers.Etcd(t).Addr)
			for _, name := range names {
				for _, id := range []string{"0", "b", "zz"} {
					c := claim(name, long)
					c.ID = id
					request(t, d, c)
				}
			}
			if layout == etcdlock.Native {
				if _, err := d.Client().Put(t.Context(), "/holdfast/%6Aobs/1f/0", ""); err != nil {
					t.Fatal(err)
				}
			}
			for prefix, want := range map[string][]string{
				"": names, "jobs": names, "jobs/": names[3:7], "jobs/a": names[3:6], "jobs/a/c": names[5:6], "j/": nil,
			} {
				var found []string
				for name, err := range driver.List(t.Context(), d, prefix) {
					if err != nil {
						t.Fatal(err)
					}
					found = append(found, name)
				}
				if slices.Sort(found); !slices.Equal(found, want) {
					t.Errorf("with the prefix %q: listed %q, want %q", prefix, found, want)
				}
			}
		})
	}
}

// A peer's lock is listed under its name, also where that has a slash and a claim of ours could have its key.
func TestListOfPeers(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, foreign, addr)
	names := []string{"a/b", "a/b/c", "z"}
	for _, name := range names {
		if err := concurrency.NewMutex(peerSession(t, addr), name).Lock(limit(t)); err != nil {
			t.Fatal(err)
		}
	}
	names = append(names, "z/ours")
	request(t, d, claim("z/ours", long))
	var found []string
	for name, err := range driver.List(t.Context(), d, "") {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, name)
	}
	if slices.Sort(found); !slices.Equal(found, names) {
		t.Errorf("listed %q, want %q", found, names)
	}
}
