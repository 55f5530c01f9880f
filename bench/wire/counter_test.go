package wire

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestReadCommand(t *testing.T) {
	for _, row := range []struct{ name, sent, want string }{
		{"one word", "*1\r\n$4\r\nPING\r\n", "PING"},
		{"binary argument", "*2\r\n$3\r\nget\r\n$4\r\na\r\nb\r\n", "get a\r\nb"},
		{"empty argument", "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "GET "},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := readCommand(bufio.NewReader(strings.NewReader(row.sent)))
			if err != nil || strings.Join(got, " ") != row.want {
				t.Errorf("readCommand(%q) = %q, %v, want %q", row.sent, got, err, row.want)
			}
		})
	}
}

func TestReadCommandRefusesWhatItCannotCount(t *testing.T) {
	for _, sent := range []string{"PING\r\n", "*x\r\n", "*-1\r\n", "*1\r\n$9\r\nPING\r\n", "*2\r\n$4\r\nPING\r\n", ""} {
		if got, err := readCommand(bufio.NewReader(strings.NewReader(sent))); err == nil {
			t.Errorf("readCommand(%q) = %q without an error", sent, got)
		}
	}
}

func TestCounterForwardsAndCounts(t *testing.T) {
	counter, err := Listen(echoServer(t), Redis(func(c Command) bool { return c.Name() == "PEXPIRE" }))
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	conn, err := net.Dial("tcp", counter.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	const ping = "*1\r\n$4\r\nPING\r\n"
	const get, renew = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "*3\r\n$7\r\npexpire\r\n$1\r\nk\r\n$1\r\n9\r\n"
	exchange(t, conn, get+get+renew+ping)
	before := counter.Count()
	if want := (Count{Requests: 2, Upkeep: 2}); before != want {
		t.Errorf("Count() = %+v, want %+v", before, want)
	}
	exchange(t, conn, get)
	if got, want := counter.Count().Sub(before), (Count{Requests: 1}); got != want {
		t.Errorf("since then %+v, want %+v", got, want)
	}
}

func TestCounterKnowsWhoIsConnected(t *testing.T) {
	counter, err := Listen(echoServer(t), Redis(func(Command) bool { return false }))
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	var conns []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", counter.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		exchange(t, conn, "*1\r\n$4\r\nPING\r\n")
		conns = append(conns, conn)
	}
	if n := counter.Connected(); n != 3 {
		t.Errorf("%d are connected, want 3", n)
	}
	conns[0].Close()
	for end := time.Now().Add(10 * time.Second); counter.Connected() != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d are connected, want 2", counter.Connected())
		}
	}
}

func exchange(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	echo := make([]byte, len(text))
	if _, err := io.ReadFull(conn, echo); err != nil || string(echo) != text {
		t.Fatalf("got back %q, %v, want %q", echo, err, text)
	}
}

// echoServer sends back what it gets.
func echoServer(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); _, _ = io.Copy(conn, conn) }()
		}
	}()
	return listener.Addr().String()
}
