package proof

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/systemtest/history"
)

// passOn detaches the lease and has another process go on with the rest of the step. It reports whether the visit was
// told to its end; otherwise the lease is as it was.
func (v *visitor) passOn(lease *holdfast.Lease, visit *Visit, rest Step) bool {
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL/4)
	defer cancel()
	handle, err := lease.Detach(ctx)
	if err != nil { // the store cannot, or did not answer
		return false
	}
	if !v.fork(order{Passed: &Passed{handle, visit, rest}}) {
		visit.Leave, visit.Left, visit.Ended = now(), now(), history.Unclear
		v.tell(told{Out: []*Visit{visit}})
	}
	return true
}

// fork has another process do something else for this visitor, tells what that tells, and reports whether it told how
// a visit ended. It is in the group of this process, so that it is stopped and killed with it.
func (v *visitor) fork(what order) (out bool) {
	other := v.order
	other.Passed, other.Many = what.Passed, what.Many
	text, err := json.Marshal(other)
	if err != nil {
		panic(err) // it was read from JSON
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		panic(err) // nobody set it before
	}
	if err := cmd.Start(); err != nil {
		return false
	}
	for in := bufio.NewScanner(lines); in.Scan(); {
		var said told
		if json.Unmarshal(in.Bytes(), &said) == nil {
			v.tell(said)
			out = out || len(said.Out) > 0
		}
	}
	if brokeDown(cmd.Wait()) {
		os.Exit(panicked) // it is of this visitor
	}
	return out
}

// goOn goes on with a visit that another process has begun.
func (v *visitor) goOn(visit *Visit) {
	defer v.watchStalls()()
	if !v.open() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	defer v.client.Close(ctx) // a store that does not answer is not this visitor's fault
	lease, err := v.client.Resume(ctx, v.Passed.Handle)
	if err != nil {
		visit.Leave, visit.Left, visit.Ended = now(), now(), ending(err)
		v.tell(told{Out: []*Visit{visit}})
		return
	}
	if lease.Token() != visit.Token {
		visit.Odd = "resumed it has another token"
	}
	visit.Gap = max(visit.Gap, now()-visit.Seen)
	leases, visits := holdfast.Leases{lease}, []*Visit{visit}
	rest := v.Passed.Step
	rest.Again, rest.Pass = false, false
	v.section(leases, visits, rest)
	v.leave(leases, visits)
	v.tell(told{Out: visits})
}
