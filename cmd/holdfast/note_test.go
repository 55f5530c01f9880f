package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// lateNotes lets notes be read only once a claim was released.
type lateNotes struct {
	once     sync.Once
	released chan struct{}
	late     chan bool // gets whether notes were asked for, and the claim was not released for long
}

func (d *lateNotes) pass(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	switch {
	case op.Kind == driver.OpRelease:
		d.once.Do(func() { close(d.released) })
	case asksForNotes(op):
		select {
		case <-d.released:
			d.late <- false
		case <-time.After(time.Minute):
			d.late <- true
		}
	}
	return next(op)
}

// asksForNotes reports whether an operation reads the notes that are kept beside a lock.
func asksForNotes(op driver.Op) bool {
	return op.Kind == driver.OpQueue && driver.HoldsNotes(op.Claim.Name)
}

// The lock is given back as soon as the command has ended, however long it takes to know who has asked for it.
func TestReleaseDoesNotAwaitNotes(t *testing.T) {
	backend := memlock.New()
	notes := &lateNotes{released: make(chan struct{}), late: make(chan bool, 1)}
	d := batch.Intercept(backend, notes.pass)
	s := &store{Client: holdfast.New(d), driver: d}
	p := &plan{runFlags: runFlags{ttl: time.Minute, onLost: lostTerm, onRevoke: revokeTerm}, name: "m",
		command: []string{"sleep", "300"}}
	lease, err := p.acquire(t.Context(), s.Client)
	if err != nil {
		t.Fatal(err)
	}
	other := holdfast.New(backend.Client())
	defer other.Close(t.Context())
	if err := other.Revoke(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	j, program := jobOf(t, p, s, lease)
	var e *exit
	if err := j.run(t.Context(), program); !errors.As(err, &e) {
		t.Error(err)
	}
	if <-notes.late {
		t.Error("the lock was kept until it was known who had asked for it")
	}
}

// Who watches many locks waits for notes once, where they are not answered.
func TestWatchDoesNotAwaitNotesOfEach(t *testing.T) {
	defer bubble.Alone()()
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	synctest.Test(t, func(t *testing.T) {
		s := &store{Client: holdfast.New(silentTo(memlock.New(), asksForNotes))}
		defer s.Client.Close(context.Background())
		var views []view
		for i := range 20 {
			views = append(views, view{Name: fmt.Sprint(i), Holders: []claim{{ID: "a"}}})
		}
		a := &app{streams: streams{out: nowhere, err: nowhere}}
		shown := a.display(s.notedIn(t.Context()), nil)
		begin := time.Now()
		for _, seen := range [][]view{views, nil} {
			if err := shown.update(seen); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin); took > noteLimit {
			t.Errorf("that took %v, want %v at most", took, noteLimit)
		}
	})
}
