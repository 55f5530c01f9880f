package interop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// A Program is a kind of client. Its process is given arguments, of which the last two are the folder of a section
// and a name; it says "ready", waits for a line, and goes on until its input ends.
type Program struct {
	Name    string
	Command func(t *testing.T) *exec.Cmd
}

// patience is how long a process may take for anything.
const patience = time.Minute

// A Peer is a process of a program.
type Peer struct {
	t          *testing.T
	name       string
	input      io.WriteCloser
	said       *lines
	complaints bytes.Buffer
	ended      chan struct{} // closed when it has
	err        error         // how it ended
}

// Start starts a process, and returns when it is ready. It ends with the test.
func (p Program) Start(t *testing.T, folder, name string, args ...string) *Peer {
	t.Helper()
	peer := p.launch(t, folder, name, args...)
	peer.Expect("ready")
	return peer
}

// launch is Start that does not wait.
func (p Program) launch(t *testing.T, folder, name string, args ...string) *Peer {
	t.Helper()
	cmd := p.Command(t)
	cmd.Args = append(append(cmd.Args, args...), folder, name)
	peer := &Peer{t: t, name: name, said: &lines{more: make(chan struct{}, 1)}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = peer.said, &peer.complaints
	var err error
	if peer.input, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		peer.err = cmd.Wait()
		close(peer.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-peer.ended
	})
	return peer
}

// Tell sends it a line.
func (p *Peer) Tell() {
	p.t.Helper()
	if _, err := io.WriteString(p.input, "\n"); err != nil {
		p.t.Errorf("%s: %v", p.name, err)
	}
}

// Expect waits until it says this next.
func (p *Peer) Expect(want string) {
	p.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	got, ok := p.said.take()
	for ; !ok; got, ok = p.said.take() {
		select {
		case <-p.said.more:
		case <-p.ended:
			p.t.Fatalf("%s has ended, where it should say %q: %v\n%s", p.name, want, p.err, &p.complaints)
		case <-late.C:
			p.t.Fatalf("%s does not say %q", p.name, want)
		}
	}
	if got != want {
		p.t.Fatalf("%s says %q, want %q", p.name, got, want)
	}
}

// Finish waits for its end, and returns what it has said that was not expected. A bad end fails the test, with what
// it said.
func (p *Peer) Finish() (said []string) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("%s goes on, having been told to stop", p.name)
	}
	if p.err != nil {
		p.t.Errorf("%s: %v\n%s%s", p.name, p.err, &p.complaints, &p.said.text)
	}
	return p.said.rest()
}

// variable makes a process of the tests a peer of this kind.
const variable = "HOLDFAST_TEST_PEER"

// Self is the program of the tests once more, as a peer of a kind, which a test called TestPeer is.
func Self(name, kind string) Program {
	return Program{name, func(t *testing.T) *exec.Cmd {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.run=^TestPeer$")
		cmd.Env = append(os.Environ(), variable+"="+kind)
		return cmd
	}}
}

// Kind is the kind of peer that this process is to be, and the arguments it was given. Without a kind the test is
// skipped.
func Kind(t *testing.T) (kind string, args []string) {
	if kind = os.Getenv(variable); kind == "" {
		t.Skip("it is for processes that other tests start")
	}
	return kind, flag.Args()
}

// A Guard calls f under a lock. Its error is that of the lock.
type Guard func(ctx context.Context, f func()) error

// RunPeer says that this process is ready, and enters the section that its last two arguments name until its input
// ends: every third time as a writer, otherwise as a reader, and always as a writer where there is no guard for
// readers.
func RunPeer(t *testing.T, write, read Guard) {
	n := flag.NArg()
	section := Section{flag.Arg(n - 2), flag.Arg(n - 1)}
	input := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	input.ReadString('\n')
	ctx, over := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { // ends with the input
		io.Copy(io.Discard, input)
		over()
	})
	defer listening.Wait()
	for i := 0; ctx.Err() == nil; i++ {
		under, writes := read, i%3 == 0
		if writes || read == nil {
			under, writes = write, true
		}
		if err := enterOnce(ctx, section, under, writes); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
}

// enterOnce says how it was inside, also when the input ended meanwhile and the lock has something to say about that.
func enterOnce(ctx context.Context, section Section, under Guard, writes bool) error {
	var visitErr error
	err := under(ctx, func() {
		var said string
		if said, visitErr = section.Enter(writes); visitErr == nil {
			fmt.Println(said)
		}
	})
	return errors.Join(err, visitErr)
}
