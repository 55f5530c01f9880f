package main

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A lead that was lost, of which only its release tells, since the command had ended by itself, ends the command too: the
// backend is closed by then, and no campaign can follow.
func TestElectEndsWithLossLearnedLate(t *testing.T) {
	backend := memlock.New()
	silent := struct{ driver.Driver }{backend} // it tells of nothing by itself
	s := &store{Client: holdfast.New(silent), driver: silent}
	p := &plan{runFlags: runFlags{ttl: time.Minute, onLost: lostTerm, onRevoke: revokeTerm}, name: "lead", command: []string{"sh", "-c", "exit 0"}, campaign: true}
	lease, err := p.acquire(t.Context(), s.Client)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := backend.Queue(t.Context(), "lead")
	if err != nil || len(queue) != 1 {
		t.Fatal(queue, err)
	}
	if err := backend.Break(t.Context(), "lead", queue[0].Claim.ID); err != nil {
		t.Fatal(err)
	}
	program, err := p.findProgram()
	if err != nil {
		t.Fatal(err)
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	a := &app{streams: streams{in: nowhere, out: nowhere, err: nowhere}}
	j := &job{app: a, plan: p, store: s, lease: lease, inbox: catchSignals()}
	var e *exit
	if err := j.run(context.Background(), program); !errors.As(err, &e) || e.code != exitLost || j.again {
		t.Errorf("the end: %v, again: %t; want exit code %d, and no other campaign", err, j.again, exitLost)
	}
}
