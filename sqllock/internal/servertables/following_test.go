package servertables

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A heard is what was told of a claim.
type heard struct {
	statuses []driver.Status
	errs     []error
}

func (h *heard) follow(f *following, name string, token uint64, held bool) *followed {
	p := &followed{
		claim: driver.Claim{Name: name, ID: driver.NewID(), Token: token, Weight: 1, Limit: 1, TTL: time.Minute},
		held:  held,
		tell: func(st driver.Status, err error) {
			h.statuses, h.errs = append(h.statuses, st), append(h.errs, err)
		},
	}
	f.add(p)
	return p
}

func left(t *testing.T, f *following) {
	t.Helper()
	if len(f.waiting) > 0 || len(f.held) > 0 {
		t.Errorf("it still follows %v and %v", f.waiting, f.held)
	}
}

// News of a claim that waits is told once, and then nothing stays of it, whatever is known of it later.
func TestWaitingIsToldOnce(t *testing.T) {
	granted := answer{status: driver.Status{Token: 1, Granted: true}}
	gone := answer{outcome: isGone}
	for what, first := range map[string]answer{
		"granted": granted, "gone": gone, "to ask": {outcome: askAgain}, "due": {status: driver.Status{Retry: due}},
	} {
		f, h := newFollowing(), &heard{}
		p := h.follow(&f, "jobs", 1, false)
		f.learn(p, answer{outcome: nothing})
		f.learn(p, answer{status: driver.Status{Token: 1, Retry: time.Second}})
		if len(h.errs) > 0 || !p.next {
			t.Errorf("%s: told %v before, and it is the next: %t", what, h.statuses, p.next)
		}
		f.learn(p, first)
		if len(h.errs) != 1 || h.statuses[0].Granted != (what == "granted") ||
			errors.Is(h.errs[0], driver.ErrGone) != (what == "gone") {
			t.Errorf("%s: told %v, %v", what, h.statuses, h.errs)
		}
		left(t, &f)
		f.learn(p, gone)
		f.forget(p.claim)
		f.leave(p)
		if len(h.errs) != 1 {
			t.Errorf("%s: told again: %v, %v", what, h.statuses, h.errs)
		}
	}
}

// A holder is told once that its claim was revoked, and later of its end.
func TestHeldIsToldOfItsRevocation(t *testing.T) {
	f, h := newFollowing(), &heard{}
	p := h.follow(&f, "jobs", 1, true)
	for range 2 {
		f.learn(p, answer{status: driver.Status{Token: 1, Granted: true}})
		f.learn(p, answer{status: driver.Status{Token: 1, Granted: true, Revoked: true}})
	}
	if len(h.errs) != 1 || !h.statuses[0].Revoked {
		t.Errorf("told %v, %v", h.statuses, h.errs)
	}
	f.forget(driver.Claim{Name: "jobs", ID: p.claim.ID, Token: 2}) // it is not under that token
	f.forget(p.claim)
	if len(h.errs) != 2 || !errors.Is(h.errs[1], driver.ErrGone) {
		t.Errorf("told %v, %v", h.statuses, h.errs)
	}
	left(t, &f)
}

// A sleeper goes on with the oldest claim that waits for the same lock, and then with the oldest on another lock.
func TestSleeperGoesOn(t *testing.T) {
	f, h := newFollowing(), &heard{}
	second, third := h.follow(&f, "jobs", 2, false), h.follow(&f, "jobs", 3, false)
	other := h.follow(&f, "others", 1, false)
	first := h.follow(&f, "jobs", 1, false)
	for _, want := range []*followed{first, second, third, other} {
		p := f.unattended("jobs")
		if p != want {
			t.Fatalf("the next is %+v, want %+v", p, want)
		}
		p.attended = time.Now()
		if p := f.unattended(want.claim.Name); p != nil && p.claim.Name == want.claim.Name {
			t.Errorf("%v has a sleeper, and yet the next is %v", want.claim, p.claim)
		}
		f.leave(p)
	}
	left(t, &f)
}
