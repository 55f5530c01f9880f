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

// A lead that was lost, of which only its release tells, because the command had ended by itself, ends the command too:
// the backend is closed by then, and no campaign can follow.
func TestElectEndsWithLossLearnedLate(t *testing.T) {
	backend := memlock.New()
	isRenewal := func(op driver.Op) bool { return op.Kind == driver.OpRequest && op.Claim.Token != 0 }
	silent := untold{silentTo(backend, isRenewal)}
	s := &store{Client: holdfast.New(silent), driver: silent}
	p := &plan{runFlags: runFlags{ttl: time.Minute, onLost: lostTerm, onRevoke: revokeTerm}, name: "lead",
		command: []string{"sh", "-c", "exit 0"}, campaign: true}
	lease, err := p.acquire(t.Context(), s.Client)
	if err != nil {
		t.Fatal(err)
	}
	operator := &store{Client: holdfast.New(backend.Client()), driver: backend}
	defer operator.Client.Close(t.Context())
	breakHolder(t, operator, "lead")
	j, program := jobOf(t, p, s, lease)
	var e *exit
	if err := j.run(context.Background(), program); !errors.As(err, &e) || e.code != exitLost || j.again {
		t.Errorf("the end: %v, again: %t; want exit code %d, and no other campaign", err, j.again, exitLost)
	}
}

// breakHolder takes a lock away from its holder.
func breakHolder(t *testing.T, s *store, name string) {
	t.Helper()
	queue, err := s.Queue(t.Context(), name)
	if err == nil {
		err = s.Break(t.Context(), name, queue[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// jobOf is a job of which nobody sees what it says, and its program.
func jobOf(t *testing.T, p *plan, s *store, lease *holdfast.Lease) (j *job, program string) {
	t.Helper()
	program, err := p.findProgram()
	if err != nil {
		t.Fatal(err)
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nowhere.Close() })
	a := &app{streams: streams{in: nowhere, out: nowhere, err: nowhere}}
	return &job{app: a, plan: p, store: s, lease: lease, inbox: catchSignals()}, program
}

// A lease that is over before the command begins, as after a pause, is lost like one that ends later: the command is
// not run, or not for long, and elect campaigns again.
func TestOverBeforeTheCommandBegins(t *testing.T) {
	for _, again := range []bool{false, true} {
		backend := memlock.New()
		s := &store{Client: holdfast.New(backend), driver: backend}
		flags := runFlags{ttl: time.Minute, onLost: lostTerm, onRevoke: revokeTerm}
		p := &plan{runFlags: flags, name: "lead", command: []string{"sleep", "300"}, campaign: again}
		lease, err := s.Mutex("lead", holdfast.WithMaxHold(time.Nanosecond)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		<-lease.Done()
		j, program := jobOf(t, p, s, lease)
		var e *exit
		if err := j.run(t.Context(), program); !errors.As(err, &e) || e.code != exitLost || j.again != again {
			t.Errorf("the end: %v, again: %t; want exit code %d, and %t", err, j.again, exitLost, again)
		}
		_ = s.Client.Close(t.Context())
	}
}
