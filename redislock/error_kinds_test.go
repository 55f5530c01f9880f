package redislock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// An errorWant is what a driver should make of an error that the server answers.
type errorWant struct {
	effect driver.Effect
	words  string // what the server's words begin with
	advice string // a part of the advice
}

func (w errorWant) check(t testing.TB, err error) {
	t.Helper()
	var got *driver.ServerError
	if !errors.As(err, &got) {
		t.Fatalf("got %v (%T), want a ServerError", err, err)
	}
	if got.Effect != w.effect || !strings.HasPrefix(got.Words, w.words) || !strings.Contains(got.Advice, w.advice) ||
		w.advice == "" && got.Advice != "" {
		t.Errorf("got effect %d, words %q, advice %q; want effect %d, words %q, advice %q",
			got.Effect, got.Words, got.Advice, w.effect, w.words, w.advice)
	}
	if refused := errors.Is(err, driver.ErrRefused); refused != (w.effect == driver.Refused) {
		t.Errorf("refused: %v", refused)
	}
	if _, ok := errors.AsType[redislock.ReplyError](err); !ok {
		t.Errorf("errors.As finds no ReplyError in %v", err)
	}
}

// The answers of real servers are in the table of errors, by the words that they use. Nothing is left of requests
// that are refused, or that may be sent again.
func TestErrorsOfServers(t *testing.T) {
	for name, tt := range map[string]struct {
		args  []string
		spoil func(t *testing.T, srv *servers.Server)
		want  errorWant
	}{
		"a replica": {
			spoil: func(t *testing.T, srv *servers.Server) { srv.Follow(t, servers.Redis(t)) },
			want:  errorWant{driver.NotNow, "READONLY", "this server is a replica"},
		},
		"too few replicas": {
			spoil: func(t *testing.T, srv *servers.Server) {
				srv.RedisCommand(t, "CONFIG", "SET", "min-replicas-to-write", "1")
			},
			want: errorWant{driver.NotNow, "NOREPLICAS", "too few replicas"},
		},
		"memory is full": {
			spoil: func(t *testing.T, srv *servers.Server) { srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1") },
			want:  errorWant{driver.NotNow, "OOM", "memory is full"},
		},
		"the disk fails": {
			args:  []string{"--save", "3600 1", "--enable-protected-configs", "yes"},
			spoil: failSave,
			want:  errorWant{driver.NotNow, "MISCONF", "cannot write to its disk"},
		},
		"a node of a cluster without slots": {
			args: []string{"--cluster-enabled", "yes", "--cluster-port", portOf(servers.FreeAddr(t))},
			want: errorWant{driver.NotNow, "CLUSTERDOWN", "slots belong to no node"},
		},
		"another type": {
			spoil: func(t *testing.T, srv *servers.Server) { srv.RedisCommand(t, "RPUSH", "holdfast:{jobs}", "x") },
			want:  errorWant{driver.Refused, "WRONGTYPE", "another name or prefix"},
		},
		"a busy script": {
			args:  []string{"--busy-reply-threshold", "50"},
			spoil: keepBusy,
			want:  errorWant{driver.NotNow, "BUSY", "SCRIPT KILL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := servers.Redis(t, tt.args...)
			d := openAt(t, srv.Addr, "")
			if tt.spoil != nil {
				tt.spoil(t, srv)
			}
			_, err := d.Request(t.Context(), claim("jobs", long))
			tt.want.check(t, err)
			if claims := srv.RedisCommand(t, "EXISTS", "holdfast:{jobs}:claims"); claims == "1" {
				t.Error("something is left of the request")
			}
		})
	}
}

// failSave makes a server fail to save, so that it takes no more writes.
func failSave(t *testing.T, srv *servers.Server) {
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	srv.RedisCommand(t, "CONFIG", "SET", "dir", gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	srv.RedisCommand(t, "SET", "x", "y")
	srv.RedisCommand(t, "BGSAVE")
	eventually(t, "the server notices that it cannot save", func() bool {
		return strings.Contains(srv.RedisCommand(t, "INFO", "persistence"), "rdb_last_bgsave_status:err")
	})
}

// keepBusy has a server run a script until the test ends.
func keepBusy(t *testing.T, srv *servers.Server) {
	c := rawClient(t, srv.Addr)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Do(context.Background(), c.B().Eval().Script("while true do end").Numkeys(0).Build())
	}()
	eventually(t, "the script makes the server busy", func() bool {
		return strings.HasPrefix(srv.RedisCommand(t, "PING"), "BUSY")
	})
	t.Cleanup(func() {
		srv.RedisCommand(t, "SCRIPT", "KILL")
		<-done
	})
}

// Errors that are hard to bring about on a server are told apart by their words. One that is refused is sent once.
func TestErrorsByTheirWords(t *testing.T) {
	const inScript = " script: 5f1d, on @user_script:7."
	for answer, want := range map[string]errorWant{
		"-NOAUTH Authentication required.":                             {driver.Refused, "NOAUTH", "in the URL"},
		"-WRONGPASS invalid username-password pair":                    {driver.Refused, "WRONGPASS", "check"},
		"-ERR invalid password":                                        {driver.Refused, "invalid", "check"},
		"-ERR Client sent AUTH, but no password is set":                {driver.Refused, "Client", "leave"},
		"-NOPERM this user has no permissions":                         {driver.Refused, "NOPERM", "ACL"},
		"-LOADING Redis is loading the dataset in memory":              {driver.NotNow, "LOADING", "seconds"},
		"-TRYAGAIN Multiple keys request":                              {driver.NotNow, "TRYAGAIN", "slot"},
		"-MOVED 3999 127.0.0.1:6381":                                   {driver.Refused, "MOVED", "redis-cluster"},
		"-ASK 3999 127.0.0.1:6381":                                     {driver.NotNow, "ASK", "slot"},
		"-CLUSTERDOWN The cluster is down":                             {driver.NotNow, "CLUSTERDOWN", "CLUSTER INFO"},
		"-MASTERDOWN Link with MASTER is down":                         {driver.NotNow, "MASTERDOWN", "primary"},
		"-EXECABORT Transaction discarded because of: x":               {driver.NotNow, "EXECABORT", ""},
		"-ERR Script killed by user" + inScript:                        {driver.NotNow, "Script killed", "SCRIPT KILL"},
		"-UNKILLABLE Sorry the script":                                 {driver.MayHaveHappened, "UNKILLABLE", ""},
		"-ERR something new":                                           {driver.MayHaveHappened, "something new", ""},
		"-NOREPLICAS Not enough" + inScript:                            {driver.MayHaveHappened, "NOREPLICAS", "few"},
		"-MISCONF Errors writing to the AOF file" + inScript:           {driver.MayHaveHappened, "MISCONF", "disk"},
		"-ERR value is not an integer" + inScript:                      {driver.MayHaveHappened, "value", ""},
		"-BUSYGROUP Consumer Group name already exists":                {driver.MayHaveHappened, "BUSYGROUP", ""},
		"-ERR unknown command 'X', with args beginning with: 's3cret'": {driver.Refused, "unknown", "allow"},
	} {
		t.Run(answer, func(t *testing.T) {
			fake := newFake(t, answer)
			d := openAt(t, fake.addr, "")
			c := claim("jobs", long)
			c.Queue = false // it listens to nothing
			_, err := d.Request(t.Context(), c)
			want.check(t, err)
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error repeats arguments: %v", err)
			}
			if strings.Contains(err.Error(), "@user_script") {
				t.Errorf("the error shows a place in a script: %v", err)
			}
			if n := fake.scripts.Load(); n != 1 {
				t.Errorf("the script was sent %d times", n)
			}
		})
	}
}

// A fake is a server that welcomes clients, and answers every script with the same line.
type fake struct {
	addr    string
	scripts atomic.Int32 // how many it was sent
}

func newFake(t *testing.T, answer string) *fake {
	t.Helper()
	f := &fake{}
	f.addr = listen(t, func(c net.Conn) { f.serve(c, answer) })
	return f
}

// listen has each connection to an address served.
func listen(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func (f *fake) serve(c net.Conn, answer string) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		line := "+OK"
		switch strings.ToUpper(args[0]) {
		case "HELLO":
			line = hello
		case "EVALSHA", "EVAL":
			f.scripts.Add(1)
			line = answer
		}
		if _, err := io.WriteString(c, line+"\r\n"); err != nil {
			return
		}
	}
}

// hello is how a server greets a client.
const hello = "%2\r\n+server\r\n+redis\r\n+proto\r\n:3"

// readCommand reads one request.
func readCommand(r *bufio.Reader) (args []string, err error) {
	n, err := readLength(r)
	for range n {
		size, err := readLength(r)
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		args = append(args, string(text[:size]))
	}
	return args, err
}

func readLength(r *bufio.Reader) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 {
		return 0, fmt.Errorf("the line %q has no length", line)
	}
	return strconv.Atoi(line[1 : len(line)-2])
}

// A server that serves no more clients says so, and is not taken for one that is not there: with its words, and as
// something that passes.
func TestFullServer(t *testing.T) {
	srv := servers.Redis(t, "--maxclients", "4")
	var held []net.Conn
	t.Cleanup(func() {
		for _, c := range held {
			c.Close()
		}
	})
	for range 4 {
		c, err := net.Dial("tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	want := errorWant{driver.NotNow, "max number of clients reached", "raise maxclients"}
	for range 10 { // what comes first, the words or the end of the connection, is a matter of luck
		_, err := drivertest.Open(t.Context(), "redis://"+srv.Addr)
		want.check(t, err)
	}
	held[0].Close()
	eventually(t, "there is room again", func() bool {
		d, err := drivertest.Open(t.Context(), "redis://"+srv.Addr)
		if err != nil {
			return false
		}
		d.Close()
		return true
	})
}

// A server in protected mode says so to strangers, and how to change that in many lines. The first of them is enough.
func TestProtectedMode(t *testing.T) {
	addr := listen(t, func(c net.Conn) {
		io.WriteString(c, "-DENIED Redis is running in protected mode because protected mode is enabled and no "+
			"password is set for the default user. In this mode connections are only accepted from the loopback "+
			"interface. If you want to connect from external computers to Redis you may adopt one of the "+
			"following solutions: 1) ...\r\n")
		c.Close()
	})
	_, err := drivertest.Open(t.Context(), "redis://"+addr)
	errorWant{driver.Refused, "DENIED Redis is running in protected mode", "set a password"}.check(t, err)
	if strings.Contains(err.Error(), "following solutions") {
		t.Errorf("the error goes on and on: %v", err)
	}
}

// portOf is the port of an address.
func portOf(addr string) string {
	_, port, _ := strings.Cut(addr, ":")
	return port
}
