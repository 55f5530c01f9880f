package foreign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Concurrency is the mutex of etcd's client, and Etcdctl the command. Both renew leases of whole seconds.
var (
	Concurrency = Program{Name: "concurrency.Mutex", Renews: true, start: self("concurrency.Mutex", nothing)}
	Etcdctl     = Program{Name: "etcdctl lock", Renews: true, start: self("etcdctl", func(t testing.TB) string {
		return servers.Etcdctl(t, nil).Path
	})}
)

// deleted is what a mutex of etcd's client calls its key when it has deleted that.
const deleted = "\x00"

type concurrently struct{ session *concurrency.Session }

func openConcurrency(_ string, addrs []string, ttl time.Duration) (library, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: addrs})
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(ttl.Seconds())))
	return concurrently{session}, err
}

func (c concurrently) lock(ctx context.Context, name string) (unlock, error) {
	select {
	case <-c.session.Done():
		return nil, errors.New("the session has ended")
	default:
	}
	m := concurrency.NewMutex(c.session, name)
	err := m.Lock(ctx)
	if errors.Is(err, context.DeadlineExceeded) && m.Key() == deleted {
		return nil, errTaken
	}
	return func() error { return m.Unlock(context.Background()) }, err
}

func (c concurrently) die() {}

// An etcdctl is the command, which runs once for each lock.
type etcdctl struct {
	program, endpoints string
	ttl                time.Duration

	mu      sync.Mutex
	running *os.Process
}

func openEtcdctl(program string, addrs []string, ttl time.Duration) (library, error) {
	return &etcdctl{program: program, endpoints: strings.Join(addrs, ","), ttl: ttl}, nil
}

func (e *etcdctl) lock(ctx context.Context, name string) (unlock, error) {
	ttl := strconv.Itoa(int(e.ttl.Seconds()))
	cmd := exec.Command(e.program, "--endpoints", e.endpoints, "lock", "--ttl", ttl, name)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = e.start(cmd)
	}
	if err != nil {
		return nil, err
	}
	first, rest := make(chan string, 1), make(chan struct{})
	go func() { // ends with the command
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			select {
			case first <- lines.Text():
			default:
			}
		}
		close(rest)
	}()
	end := func() error {
		err := cmd.Process.Signal(os.Interrupt) // which it takes as the wish to release
		<-rest
		return errors.Join(err, cmd.Wait())
	}
	select {
	case key := <-first:
		if !strings.HasPrefix(key, name+"/") {
			return nil, fmt.Errorf("etcdctl lock says %q", key)
		}
		return end, nil
	case <-rest:
		return nil, fmt.Errorf("etcdctl lock has ended: %w", cmd.Wait())
	case <-ctx.Done():
		_ = end() // with the error that it was interrupted
		return nil, errTaken
	}
}

// start starts the command, unless the process dies.
func (e *etcdctl) start(cmd *exec.Cmd) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := cmd.Start()
	e.running = cmd.Process
	return err
}

func (e *etcdctl) die() {
	e.mu.Lock() // and none is started any more
	if e.running != nil {
		e.running.Kill()
	}
}
