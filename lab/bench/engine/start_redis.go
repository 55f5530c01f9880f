package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// StartRedis starts a redis-server on a free loopback port, which keeps nothing on disk. Closing the engine ends it.
func StartRedis(ctx context.Context) (Engine, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("redis-server is not installed; on Debian: apt-get install -y --no-install-recommends redis-server")
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	server, err := launch(ctx, program, addr)
	if err != nil {
		return nil, err
	}
	client, err := DialRedis(ctx, addr)
	if err != nil {
		return nil, errors.Join(err, end(server))
	}
	return &startedRedis{client, server}, nil
}

type startedRedis struct {
	*Redis
	server *exec.Cmd
}

func (e *startedRedis) Close() error { return errors.Join(e.Redis.Close(), end(e.server)) }

// launch returns when the server accepts connections.
func launch(ctx context.Context, program, addr string) (*exec.Cmd, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	server := exec.Command(program, "--port", port, "--bind", host, "--save", "", "--appendonly", "no")
	server.Dir = os.TempDir()
	output, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = server.Process.Kill() })()
	if err := awaitLine(output, "Ready to accept connections"); err != nil {
		return nil, errors.Join(err, end(server))
	}
	return server, nil
}

// awaitLine reads what the server says until a line contains the text.
func awaitLine(output io.Reader, text string) error {
	var said bytes.Buffer
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			return nil
		}
		fmt.Fprintln(&said, lines.Text())
	}
	return fmt.Errorf("redis-server ended before it was ready: %s", &said)
}

// end stops a server and waits until it has ended. How it ended says nothing.
func end(server *exec.Cmd) error {
	err := server.Process.Signal(os.Interrupt)
	_ = server.Wait()
	return err
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
