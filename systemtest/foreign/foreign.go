// Package foreign has programs that lock with the libraries of others, for package proof. Each is started with the
// addresses of servers, with commas between, and a TTL in milliseconds, and answers each line that it reads with one:
//
//	lock NAME MILLISECONDS   "got"; "taken", if the lock was not to be had in that time; or "error WHY"
//	release                  "released", or "error WHY"
//
// When its input ends it ends at once, and releases nothing: what it has, or has left behind with an error, is free a
// TTL later. So who hears of an error, or nothing, ends the program and starts another.
package foreign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Program is one of them.
type Program struct {
	Name   string
	Renews bool // it keeps what it has for as long as it lives, and not for a TTL alone

	// start is its command line, without the addresses and the TTL. The test is skipped if the program is missing.
	start func(t testing.TB) []string
}

// Command is the program's command line, for the servers at these addresses.
func (p Program) Command(t testing.TB, addrs []string, ttl time.Duration) []string {
	t.Helper()
	return append(p.start(t), strings.Join(addrs, ","), strconv.FormatInt(ttl.Milliseconds(), 10))
}

// part is the first argument of a process that is one of the programs in Go.
const part = "program-of-others"

// self is the program of the tests once more, as a library in Go, which may need one word more. [Main] is its main.
func self(library string, word func(t testing.TB) string) func(t testing.TB) []string {
	return func(t testing.TB) []string {
		t.Helper()
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return []string{program, part, library, word(t)}
	}
}

func nothing(testing.TB) string { return "" }

// Main makes the process a program of others, if it was started as one, and reports whether it was. For TestMain.
func Main() bool {
	if len(os.Args) != 6 || os.Args[1] != part {
		return false
	}
	ttl, err := strconv.ParseInt(os.Args[5], 10, 64)
	if err != nil {
		fmt.Println("error", err)
		return true
	}
	open := libraries[os.Args[2]]
	serve(func() (library, error) {
		return open(os.Args[3], strings.Split(os.Args[4], ","), time.Duration(ttl)*time.Millisecond)
	})
	return true
}

// A library is a client of one. It waits for one lock at a time.
type library interface {
	// lock waits until it has the lock, and returns what gives it back. Once ctx is done its error is errTaken if the
	// library has left nothing behind, as far as it knows.
	lock(ctx context.Context, name string) (unlock, error)
	// die ends what would outlive the process.
	die()
}

// An unlock gives a lock back.
type unlock func() error

var errTaken = errors.New("taken")

// libraries are all that are in Go, with what opens a client.
var libraries = map[string]func(word string, addrs []string, ttl time.Duration) (library, error){
	"concurrency.Mutex": openConcurrency,
	"etcdctl":           openEtcdctl,
	"redsync":           openRedsync,
	"zk.Lock":           openZooKeeper,
}

// serve answers lines until the input ends.
func serve(open func() (library, error)) {
	orders := make(chan string)
	client := make(chan library, 1) // what is to die with the process, once it is open
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			orders <- lines.Text()
		}
		select {
		case l := <-client:
			l.die()
		default:
		}
		os.Exit(0)
	}()
	s := server{open: open, opened: client}
	for order := range orders { // never closed: the process ends
		fmt.Println(s.answer(strings.Fields(order)))
	}
}

// A server answers one line after the other.
type server struct {
	open   func() (library, error)
	opened chan<- library
	client library
	unlock unlock
}

func (s *server) answer(words []string) string {
	switch {
	case len(words) == 3 && words[0] == "lock" && s.unlock == nil:
		return s.lock(words[1], words[2])
	case len(words) == 1 && words[0] == "release" && s.unlock != nil:
		err := s.unlock()
		s.unlock = nil
		return said("released", err)
	default:
		return fmt.Sprintf("error nobody can %q now", words)
	}
}

func (s *server) lock(name, text string) string {
	wait, err := strconv.ParseInt(text, 10, 64)
	if err == nil && s.client == nil {
		err = s.connect()
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(wait)*time.Millisecond)
		defer cancel()
		s.unlock, err = s.client.lock(ctx, name)
	}
	if err != nil {
		s.unlock = nil
	}
	return said("got", err)
}

func (s *server) connect() error {
	client, err := s.open()
	if err == nil {
		s.client = client
		s.opened <- client
	}
	return err
}

// said is an answer, of one line.
func said(good string, err error) string {
	switch {
	case err == nil:
		return good
	case errors.Is(err, errTaken):
		return errTaken.Error()
	default:
		return "error " + strings.Join(strings.Fields(err.Error()), " ")
	}
}
