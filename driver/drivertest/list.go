package drivertest

import (
	"context"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

var listRows = []row{
	{
		name: "list",
		why:  "each lock with claims is listed once, whatever characters its name has",
		run: func(e *env) {
			var want []string
			for _, name := range oddNames(e.name) {
				if one := e.with(name); one.takes() {
					want = append(want, name)
				}
			}
			e.lists("", want)
			e.lists(e.name, prefixed(want, e.name))
		},
		needs: has[driver.Lister],
	},
	{
		name: "list by prefix",
		why:  "a prefix is compared byte by byte: no character in it is a pattern",
		run: func(e *env) {
			var want []string
			for _, end := range []string{
				"*a", "*b", "xa", "?a", "[x]a", "%a", "_a", "{x}a", `\a`, "\x00a", "é", "☃", "Xa", "a/b", "a",
			} {
				if one := e.with(e.name + end); one.takes() {
					want = append(want, one.name)
				}
			}
			for _, end := range []string{
				"", "*", "?", "[x]", "[", "%", "_", "{", "{x}", `\`, "\x00", "\xc3",
				"x", "X", "a", "a/", "nothing",
			} {
				e.lists(e.name+end, prefixed(want, e.name+end))
			}
		},
		needs: has[driver.Lister],
	},
	{
		name: "list of what is gone",
		why:  "a lock is listed while it has claims in its queue",
		run: func(e *env) {
			a, b, c := e.with(e.name+"/a"), e.with(e.name+"/b"), e.with(e.name+"/c")
			released := a.claim()
			a.release(e.d, released, a.acquire(e.d, released))
			b.acquire(e.d, e.short(b.claim()))
			c.acquire(e.d, c.claim())
			c.enqueue(e.d, c.claim())
			e.eventually("the claim on b expires", b.free)
			e.lists(e.name, []string{c.name})
		},
		needs: has[driver.Lister],
		exact: true,
	},
	{
		name: "list with a broken lock",
		why:  "one lock that nobody can read hides no other, and is not hidden itself",
		run: func(e *env) {
			if e.h.Spoil == nil {
				e.Skip("the harness does not say how to make a lock unreadable")
			}
			a, b, c := e.with(e.name+"/a"), e.with(e.name+"/b"), e.with(e.name+"/c")
			for _, one := range []*env{a, b, c} {
				one.acquire(e.d, one.claim())
			}
			e.h.Spoil(e.T, b.name)
			if queue, err := e.d.Queue(context.Background(), b.name); err == nil {
				e.Errorf("the lock was to be unreadable, and has the queue %+v", queue)
			}
			e.lists(e.name, []string{a.name, b.name, c.name})
		},
		needs: has[driver.Lister],
		exact: true,
	},
	{
		name: "list stops",
		why:  "who has seen enough stops the iteration",
		run: func(e *env) {
			for _, end := range []string{"/a", "/b", "/c"} {
				one := e.with(e.name + end)
				one.acquire(e.d, one.claim())
			}
			seen := 0
			for range driver.List(context.Background(), e.d, e.name) {
				seen++
				break
			}
			if seen != 1 {
				e.Errorf("saw %d names before stopping at the first", seen)
			}
		},
		needs: has[driver.Lister],
	},
}

func prefixed(names []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, prefix) })
}

// lists fails unless the names with this prefix are those wanted. The store is shared with other rows, whose names it
// ignores.
func (e *env) lists(prefix string, want []string) {
	e.Helper()
	got, _, err := persist(e, func(ctx context.Context) (names []string, err error) {
		for name, err := range driver.List(ctx, e.other, prefix) {
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
		return names, nil
	})
	if err != nil {
		e.Fatalf("List(%q): %v", prefix, err)
	}
	if prefix == "" {
		got = slices.DeleteFunc(got, func(n string) bool { return !slices.Contains(want, n) })
	}
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		e.Errorf("List(%q) yields %d names, want %d; too many or twice: %q, missing: %q",
			prefix, len(got), len(want), without(got, want), without(want, got))
	}
}

// without returns what is in names more often than in others.
func without(names, others []string) []string {
	rest := slices.Clone(names)
	for _, o := range others {
		if i := slices.Index(rest, o); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}
