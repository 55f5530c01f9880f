package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// Each row is a queue before and after, as "h" for holders and "w" for waiters, and what has changed.
func TestChangesFrom(t *testing.T) {
	queue := func(holders, waiters, err string) view {
		v := view{Name: "n", Error: err}
		for _, id := range strings.Fields(holders) {
			v.Holders = append(v.Holders, claim{ID: id, Owner: id, ExpiresIn: 3})
		}
		for _, id := range strings.Fields(waiters) {
			v.Waiters = append(v.Waiters, claim{ID: id, Owner: id})
		}
		return v
	}
	renewed := queue("a", "b", "")
	renewed.Holders[0].ExpiresIn = 15
	asked := queue("a", "b", "").with([]holdfast.Note{{Kind: driver.NoteRevoke, Claim: "a", By: "ann\n"}})
	broke := []holdfast.Note{{Kind: driver.NoteBreak, Claim: "a", By: "bob\x1b"}}
	for _, row := range []struct {
		name          string
		before, after view
		want          []string
	}{
		{"nothing", queue("a", "b", ""), queue("a", "b", ""), nil},
		{"a renewal is no change", queue("a", "b", ""), renewed, nil},
		{"first", queue("", "", ""), queue("a", "b", ""), []string{"holds  a", "waits  b"}},
		{"handed on", queue("a", "b c", ""), queue("b", "c", ""), []string{"ended  a", "holds  b"}},
		{"one who waited left", queue("a", "b", ""), queue("a", "", ""), []string{"ended  b"}},
		{"free", queue("a", "", ""), queue("", "", ""), []string{"ended  a"}},
		{"asked for", queue("a", "b", ""), asked, []string{`asked  a  by "ann\n"`}},
		{"asked for before", asked, asked, nil},
		{"broken", queue("a", "", ""), queue("", "", "").with(broke), []string{`ended  a  broken by "bob\x1b"`}},
		{"about to be broken", queue("a", "", ""), queue("a", "", "").with(broke), nil},
		{"unreadable: nothing is known to have ended", queue("a", "", ""), queue("", "", "bad\x1brecord"),
			[]string{`cannot be read: "bad\x1brecord"`}},
		{"it still is", queue("", "", "bad"), queue("", "", "bad"), nil},
	} {
		if got := row.after.changesFrom(row.before); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// Once a lock can be read again, what has changed meanwhile is told, and nothing else.
func TestUnreadableForAWhile(t *testing.T) {
	told, err := os.Create(filepath.Join(t.TempDir(), "told"))
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	a := &app{streams: streams{out: told, err: told}}
	show := a.display(func(v view, _ time.Time) view { return v }, nil)
	one, two := claim{ID: "a", Owner: "a"}, claim{ID: "b", Owner: "b"}
	bad := view{Name: "n", Error: "bad"}
	for _, v := range []view{{Name: "n", Holders: []claim{one}, Waiters: []claim{two}}, bad, bad,
		{Name: "n", Holders: []claim{one}, Waiters: []claim{two}}, bad, {Name: "n", Holders: []claim{two}}} {
		if err := show.update([]view{v}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(told.Name())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		_, change, _ := strings.Cut(strings.TrimSpace(line), "  n  ")
		lines = append(lines, change)
	}
	want := []string{"holds  a", "waits  b", "cannot be read: bad", "cannot be read: bad", "ended  a", "holds  b"}
	if !slices.Equal(lines, want) {
		t.Errorf("told %q, want %q", lines, want)
	}
}

// A display of tests notes what it shows.
type notes []string

func (n *notes) update(views []view) error {
	*n = append(*n, fmt.Sprint(len(views), " locks"))
	return nil
}

func (n *notes) outage(err error) error {
	*n = append(*n, err.Error())
	return nil
}

// looksLike yields what was seen, look by look: nil for queues, or why they are not known.
func looksLike(looks ...error) looker {
	return func(context.Context) iter.Seq2[[]view, error] {
		return func(yield func([]view, error) bool) {
			for _, err := range looks {
				if !yield(nil, err) {
					return
				}
			}
		}
	}
}

var errOutage = errors.New("no answer")

// An outage may end; a refusal does not, and is what the command ends with.
func TestWatchEndsWithRefusal(t *testing.T) {
	var shown notes
	refused := fmt.Errorf("%w: the file was removed", driver.ErrRefused)
	err := new(app).watch(t.Context(), looksLike(nil, errOutage, nil, refused, nil), &shown)
	if want := (notes{"0 locks", "no answer", "0 locks"}); !slices.Equal(shown, want) || err != refused {
		t.Errorf("shown %q, ended with %v; want %q, and the refusal", shown, err, want)
	}
}

// Who reads lines reads once that there is an outage, and again if there is another one or another reason.
func TestOutageIsToldOnce(t *testing.T) {
	told, err := os.Create(filepath.Join(t.TempDir(), "told"))
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	a := &app{streams: streams{out: told, err: told}}
	looks := looksLike(nil, errOutage, errOutage, errLate, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, nil,
		errOutage, errOutage)
	if err := a.watch(t.Context(), looks, a.display(func(v view, _ time.Time) view { return v }, nil)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(told.Name())
	if err != nil {
		t.Fatal(err)
	}
	const want = "holdfast: no answer\nholdfast: unexpected EOF\nholdfast: no answer\n"
	if string(text) != want {
		t.Errorf("told %q, want %q", text, want)
	}
}

// A look that is not answered is told before it is given up, at the start too.
func TestLookThatIsNotAnswered(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		hung := func(ctx context.Context) ([]view, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begin, told := time.Now(), map[time.Duration]error{}
		for _, err := range again(listLimit, hung)(t.Context()) {
			if told[time.Since(begin)] = err; len(told) == 2 {
				break
			}
		}
		if told[lookLimit] != errLate || !errors.Is(told[listLimit], context.DeadlineExceeded) {
			t.Errorf("told %v; want %v after %v, and the end of the look after %v", told, errLate, lookLimit, listLimit)
		}
	})
	var shown notes
	err := new(app).watch(t.Context(), looksLike(errLate, nil), &shown)
	if want := (notes{errLate.Error(), "0 locks"}); err != nil || !slices.Equal(shown, want) {
		t.Errorf("shown %q, ended with %v; want %q", shown, err, want)
	}
}

// What does not fit a terminal is left out, so that nothing scrolls away and is drawn over in the wrong place.
func TestFit(t *testing.T) {
	lines := []string{"head", "a", "b", "c"}
	for most, want := range map[int]string{
		9: "head a b c", 4: "head a b c", 3: "head a … and 2 more", 2: "head … and 3 more", 1: "… and 4 more",
	} {
		if got := strings.Join(fit(lines, most), " "); got != want {
			t.Errorf("%d lines: got %q, want %q", most, got, want)
		}
	}
	if lines[2] != "b" {
		t.Error("the lines themselves were changed")
	}
}

// A look at thousands of locks may take long: what takes less than a minute is not given up, and the pause after it is
// longer than it, so that who looks on costs the backend little.
func TestLooksThatTakeLong(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		const long = 50 * time.Second
		begin, looks := time.Now(), 0
		slow := func(ctx context.Context) ([]view, error) {
			return nil, driver.Sleep(ctx, long)
		}
		late := 0
		for _, err := range again(listLimit, slow)(t.Context()) {
			if errors.Is(err, errLate) {
				late++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if looks++; looks == 3 {
				break
			}
		}
		if late != 1 {
			t.Errorf("told %d times that there is no answer yet; want once, until it is known to take long", late)
		}
		if took, least := time.Since(begin), 3*long+2*lookShare*long; took < least {
			t.Errorf("three looks took %v, want %v at least", took, least)
		}
	})
}
