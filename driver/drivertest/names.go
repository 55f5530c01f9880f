package drivertest

import (
	"errors"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

var nameRows = []row{
	{
		name: "names never collide",
		why:  "names are encoded injectively: a lock never blocks on another one, whatever its name",
		run: func(e *env) {
			var taken []*env
			for _, name := range oddNames(e.name) {
				if one := e.with(name); one.takes() {
					taken = append(taken, one)
				}
			}
			for _, one := range taken {
				one.isTaken()
			}
			if 2*len(taken) < len(oddNames(e.name)) {
				e.Errorf("the driver takes only %d of %d names", len(taken), len(oddNames(e.name)))
			}
		},
	},
	{
		name: "names do not share releases",
		why:  "what ends on one lock touches no other one",
		run: func(e *env) {
			a, b := e.with(e.name), e.with(e.name+"/b")
			mine, theirs := a.claim(), b.claim()
			held := a.acquire(e.d, mine)
			kept := b.acquire(e.d, theirs)
			misled := theirs
			misled.Name = a.name
			a.isGone(a.dropErr(e.d, misled, kept), "releasing a claim under the name of another lock")
			a.release(e.d, mine, held)
			b.acquire(e.d, renewal(theirs, kept))
			b.enqueue(e.other, b.claim())
		},
	},
	{
		name: "longest name",
		why:  "a name of Traits.MaxName bytes is allowed",
		run: func(e *env) {
			longest := e.traits.MaxName
			if longest == 0 {
				longest = 2000
			}
			name := e.name + strings.Repeat("/", max(0, longest-len(e.name)-1))
			a, b := e.with(name+"a"), e.with(name+"b")
			a.acquire(e.d, a.claim())
			b.acquire(e.d, b.claim())
			a.enqueue(e.other, a.claim())
		},
	},
}

// oddNames returns names that differ from each other in ways that engines overlook.
func oddNames(base string) []string {
	names := []string{
		"/" + base, "." + base, "*" + base, "{" + base + "}", "{}" + base, "}" + base + "{", " " + base, ":" + base,
		"{" + base, "%2F" + base, "../" + base, base, strings.ToUpper(base),
	}
	for _, end := range []string{
		" ", "  ", "\t", "\n", "\r\n", "\x00", "\x00a",
		"/", "//", "/a", "/a/b", "/A", "/b", "/.", "/..", "/*", "/?", "/[ab]",
		"{a}", "{b}", "{", "}", "{}", ":", ":a", ":queue", ":fence",
		"'", "''", `"`, "`", `\`, `\\`, `\n`, "%", "%00", "%2F", "%2f",
		"é", "e\u0301", "É", "ß", "ss", "İ", "i", "ı", "🔒", "🔑", "\u200b", "\ufeff", "\xff", "\xfe", "\xc3",
		";--", "$1", "${a}", "#a", "~", "_", "-", "+",
		strings.Repeat("x", 180), strings.Repeat("x", 181), strings.Repeat("🔒", 40), strings.Repeat("\x00", 60),
	} {
		names = append(names, base+end)
	}
	return names
}

// takes acquires the lock, unless the driver says that a lock cannot have this name.
func (e *env) takes() bool {
	e.Helper()
	c := e.claim()
	if err := driver.Validate(c, e.traits); errors.Is(err, driver.ErrInvalidName) {
		return false
	}
	st, err := e.ask(e.d, c)
	switch {
	case errors.Is(err, driver.ErrInvalidName):
		e.Logf("not allowed: %q", e.name)
		return false
	case err != nil:
		e.Errorf("%q: %v", e.name, err)
		return false
	case !st.Granted:
		e.Errorf("%q blocks on another name", e.name)
	}
	return true
}

// isTaken fails unless exactly one claim is on the lock.
func (e *env) isTaken() {
	e.Helper()
	if st := e.request(e.other, e.try()); st.Granted {
		e.Errorf("%q lost its claim", e.name)
	}
	if !e.traits.Listed || e.s.lossy {
		return
	}
	if entries := e.queue(); len(entries) != 1 || entries[0].Name != e.name {
		e.Errorf("%q has the queue %+v", e.name, entries)
	}
}
