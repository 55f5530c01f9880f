package proof

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/foreign"
	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// peerOf is the program of others that a visitor of a store has lock for it, if a step wants that.
func peerOf(t testing.TB, store *nemesis.Store, visitor int, steps []Step) (p foreign.Program, wanted bool) {
	t.Helper()
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.Verb == Foreign }) {
		return p, false
	}
	if len(store.Peers) == 0 {
		t.Fatalf("nobody else locks as %s does", store.Name)
	}
	return store.Peers[visitor%len(store.Peers)], true
}

// foreign is a visit of a program of others. It has no token, and may not learn that it lost its lock: see
// [Record.beside].
func (v *visitor) foreign(s Step) {
	visit := v.newVisits(s)[0]
	visit.Foreign, visit.Call = true, now()
	v.tell(told{Asks: []*Visit{visit}})
	answer := v.askPeer(fmt.Sprintf("lock %s %d", s.Lock, s.Within.Milliseconds()), s.Within)
	visit.Return = now()
	switch answer {
	case "got":
		v.tell(told{Inside: []*Visit{visit}})
		time.Sleep(s.Stays) // what a section does
		v.leaveForeign(visit)
	case "taken":
		visit.Outcome = history.GaveUp
	default:
		visit.Outcome, visit.Said = history.Unknown, answer
		v.endPeer()
	}
	v.tell(told{Out: []*Visit{visit}})
}

// leaveForeign has the program release its lock. One that renews nothing counts as inside for half a TTL at most: it
// had the lock some time before it said so.
func (v *visitor) leaveForeign(visit *Visit) {
	visit.Leave = now()
	visit.Seen = visit.Leave
	if !v.PeerRenews {
		visit.Seen = min(visit.Seen, visit.Return+v.TTL/2)
	}
	answer := v.askPeer("release", 0)
	visit.Left = now()
	if answer != "released" {
		visit.Ended, visit.Said = history.Unclear, answer
		v.endPeer()
	}
}

// askPeer asks the program, which is started if there is none, and returns what it answers within so long and a TTL.
func (v *visitor) askPeer(line string, within time.Duration) (answer string) {
	if v.beside == nil {
		var err error
		if v.beside, err = startPeer(v.Peer); err != nil {
			return err.Error()
		}
	}
	return v.beside.ask(line, within+v.TTL)
}

// endPeer ends the program, if there is one.
func (v *visitor) endPeer() {
	if v.beside != nil {
		v.beside.end(v.TTL)
		v.beside = nil
	}
}

// A peer is a process of a program of others.
type peer struct {
	*exec.Cmd
	in      io.WriteCloser
	answers chan string // closed when it has ended
}

// startPeer starts one in the group of this process, so that it is stopped and killed with it.
func startPeer(line []string) (*peer, error) {
	p := &peer{Cmd: exec.Command(line[0], line[1:]...), answers: make(chan string)}
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, err
	}
	p.in = in
	go func() { // ends with the process
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.answers <- strings.TrimSpace(lines.Text())
		}
		_ = p.Wait() // how it ends is not ours to judge
		close(p.answers)
	}()
	return p, nil
}

// ask says a line, and returns what is answered in time.
func (p *peer) ask(line string, within time.Duration) string {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return err.Error()
	}
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case answer, ok := <-p.answers:
		if !ok {
			return "it has ended"
		}
		return answer
	case <-late.C:
		return "it does not answer"
	}
}

// end ends its input, with which it ends, and kills it if it does not within a while.
func (p *peer) end(within time.Duration) {
	p.in.Close()
	kill := time.AfterFunc(within, func() { p.Process.Kill() })
	defer kill.Stop()
	for range p.answers { // what came too late
	}
}

// beside is a visit of a program of others, as far as it excludes anybody. It may not learn that its lock is lost, so
// nothing is known of a visit if something happened meanwhile, or a TTL before, or if somebody broke a claim.
func (r Record) beside(v Visit) history.Visit {
	if v.Outcome == history.Got && r.upset(v) {
		v.Outcome = history.Unknown
	}
	return v.Visit
}

func (r Record) upset(v Visit) bool {
	during := Span{v.Call, v.Left}
	broken := func(b Breaking) bool {
		return b.Lock == v.Lock && Span{b.Call, b.Return}.wider(v.TTL).overlaps(during)
	}
	return slices.ContainsFunc(r.Breaks, broken) || r.disturbed(v.Visit, during, nemesis.Outage)
}

// over is when nothing of a visit can be in the way of others any more. A program of others that has not said that it
// released its lock may leave something behind, as long as its session lasts.
func (r Record) over(v Visit) time.Duration {
	at := v.Over()
	if v.Foreign && (v.Outcome != history.Got || v.Ended != history.Released) {
		at += 2*v.TTL + r.longer(Span{v.Call, at})
	}
	return at
}

// ours are the visits of the library.
func (r Record) ours() []Visit {
	return slices.DeleteFunc(slices.Clone(r.Visits), func(v Visit) bool { return v.Foreign })
}

// explained are those but for refusals for which a program of others may be the reason.
func (r Record) explained() []Visit {
	inTheWay := func(v Visit) bool {
		asked := Span{v.Call, v.Return}
		return slices.ContainsFunc(r.Visits, func(other Visit) bool {
			return other.Foreign && other.Lock == v.Lock && Span{other.Call, r.over(other)}.overlaps(asked)
		})
	}
	return slices.DeleteFunc(r.ours(), func(v Visit) bool { return v.Outcome == history.Taken && inTheWay(v) })
}

// Beside counts the visits of programs of others, and those of them that got in.
func (r Record) Beside() (visits, got int) {
	for _, v := range r.Visits {
		if v.Foreign {
			visits++
			if v.Outcome == history.Got {
				got++
			}
		}
	}
	return visits, got
}
