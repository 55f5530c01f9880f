package proof

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// A crowd is the visitors of a run, and what they told.
type crowd struct {
	t       testing.TB
	files   []string      // see [nemesis.Store]
	until   time.Duration // by now; set before the first begins
	members []*member
	reading sync.WaitGroup

	mu     sync.Mutex
	record *Record
}

// A member is a visitor, in one process after another.
type member struct {
	order
	lines   []*proxy.Proxy
	cmd     *exec.Cmd
	gone    chan struct{} // closed when all that the process told was taken down
	life    int
	stopped bool
	asks    []*Visit // under way; of the crowd's mutex
	counts  *Count   // the same
}

// gather makes a visitor for each program of the schedule, with lines of its own.
func gather(t testing.TB, store *nemesis.Store, s Schedule, resources string, r *Record) *crowd {
	program := buildCommand(t, s)
	c := &crowd{t: t, files: store.Files, record: r}
	for i, steps := range s.Visitors {
		m := &member{}
		var ends []string
		for _, addr := range store.Addrs {
			line := proxy.New(t, addr)
			m.lines, ends = append(m.lines, line), append(ends, line.Addr)
		}
		m.order = order{
			Visitor: i, URL: store.URL(ends), TTL: s.TTL, Steps: steps, Resource: resources,
			Careless: s.Careless, Program: program,
		}
		if store.Database != nil {
			m.Database = store.Database(ends)
		}
		if p, wanted := peerOf(t, store, i, steps); wanted {
			m.Peer, m.PeerRenews = p.Command(t, ends, s.TTL), p.Renews
		}
		c.members = append(c.members, m)
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			if m.cmd != nil {
				m.signal(syscall.SIGKILL) // unless it has ended
			}
		}
		c.reading.Wait()
	})
	return c
}

// begin starts a process of a visitor, after the one before.
func (c *crowd) begin(m *member) {
	c.t.Helper()
	if m.gone != nil {
		<-m.gone
	}
	m.Until = c.until
	text, err := json.Marshal(m.order)
	if err != nil {
		c.t.Fatal(err)
	}
	m.cmd = exec.Command(os.Args[0])
	m.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	m.cmd.Stderr = os.Stderr
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // see signal
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	m.life++
	m.gone = make(chan struct{})
	cmd, gone := m.cmd, m.gone
	c.reading.Go(func() {
		defer close(gone)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.hear(m, lines.Bytes())
		}
		if err := cmd.Wait(); brokeDown(err) {
			c.t.Errorf("visitor %d broke down: %v", m.Visitor, err)
		}
		c.cutShort(m)
	})
}

// Exit codes of a program in Go that panicked, and of one in which the race detector found something.
const (
	panicked = 2
	raced    = 66
)

// brokeDown reports whether a process ended by its own fault. How others end shows in what they tell.
func brokeDown(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && (exit.ExitCode() == panicked || exit.ExitCode() == raced)
}

// hear takes down what a visitor told. A line that a killed process could not finish is none.
func (c *crowd) hear(m *member, line []byte) {
	var said told
	if json.Unmarshal(line, &said) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r := c.record; {
	case said.Begun > 0:
		m.Next = said.Begun
	case said.Asks != nil:
		m.asks = said.Asks
	case said.Inside != nil:
		m.asks = said.Inside
	case said.Out != nil:
		m.asks = nil
		for _, v := range said.Out {
			v.Life = m.life
			r.Visits = append(r.Visits, *v)
		}
	case said.Broke != nil:
		r.Breaks = append(r.Breaks, *said.Broke)
	case said.Revoked != nil:
		r.Revoked = append(r.Revoked, *said.Revoked)
	case said.Counts != nil:
		m.counts = said.Counts
	case said.Counted != nil:
		m.counts = nil
		r.Counts = append(r.Counts, *said.Counted)
	case said.Many != nil:
		r.Many = append(r.Many, *said.Many)
	case said.Stalled != nil:
		r.Stalls = append(r.Stalls, *said.Stalled)
	case said.End != nil:
		r.Ends = append(r.Ends, *said.End)
	}
}

// answers are the bytes that servers sent to each visitor; nil where visitors have no lines.
func (c *crowd) answers() (bytes []int64) {
	for _, m := range c.members {
		if len(m.lines) == 0 {
			return nil
		}
		var sum int64
		for _, line := range m.lines {
			sum += line.Answered()
		}
		bytes = append(bytes, sum)
	}
	return bytes
}

// note takes down a stall of the test's process.
func (c *crowd) note(s Stall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record.Stalls = append(c.record.Stalls, s)
}

// cutShort takes down the visits, or the transaction, during which a process ended. Nobody knows how they went on, but
// that the visitor was inside when it said so last, if it was.
func (c *crowd) cutShort(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range m.asks {
		v.Life, v.Cut, v.Leave, v.Left, v.Ended = m.life, true, now(), now(), history.Unclear
		if v.Token == 0 {
			v.Outcome, v.Return = history.Unknown, now()
		}
		c.record.Visits = append(c.record.Visits, *v)
	}
	m.asks = nil
	if m.counts != nil {
		m.counts.Return = now()
		c.record.Counts = append(c.record.Counts, *m.counts)
		m.counts = nil
	}
}

// strike lets a blow befall a visitor or its lines, and returns what ends it; nil if the visitor is struck already.
func (c *crowd) strike(b Blow) (end func()) {
	m := c.members[b.Number]
	switch {
	case b.Target == OnLine:
		for _, line := range m.lines {
			lineFaults[b.What](line, m.TTL)
		}
		return func() {
			for _, line := range m.lines {
				line.Heal()
			}
		}
	case m.stopped:
		return nil
	case b.What == Stop:
		return c.stop(m)
	default:
		m.stopped = true
		m.signal(syscall.SIGKILL)
		return func() {
			m.stopped = false
			if now() < c.until {
				c.begin(m)
			}
		}
	}
}

// stop stops a visitor until end. If that befell it while it wrote to a store in files, it befell everybody.
func (c *crowd) stop(m *member) (end func()) {
	m.stopped = true
	from := now()
	m.signal(syscall.SIGSTOP)
	return func() {
		if isWriting(m.cmd.Process.Pid, c.files) {
			c.note(Stall{nobody, Span{from, now()}})
		}
		m.stopped = false
		m.signal(syscall.SIGCONT)
	}
}

// signal sends a signal to a visitor's process, and to the command that it runs, but not to what runs under the lock,
// nor to the guard of that. They may have ended, because their time was over.
func (m *member) signal(s syscall.Signal) { _ = syscall.Kill(-m.cmd.Process.Pid, s) }
