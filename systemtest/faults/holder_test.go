package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// The test binary is also the other process: with these variables set it holds a lock for this TTL and tells what it
// sees.
const holderURL, holderTTL = "HOLDFAST_TEST_HOLDER", "HOLDFAST_TEST_HOLDER_TTL"

func TestMain(m *testing.M) {
	if url := os.Getenv(holderURL); url != "" {
		if err := hold(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// hold acquires the lock, says "held TOKEN", and then looks at its lease all the time. What it says next is what its
// first look after a pause showed: "lost" or "still held".
func hold(url string) error {
	ctx := context.Background()
	ttl, err := time.ParseDuration(os.Getenv(holderTTL))
	if err != nil {
		return err
	}
	client, err := holdfast.Open(ctx, url, holdfast.WithTTL(ttl))
	if err != nil {
		return err
	}
	lease, err := client.Mutex(lockName).Lock(ctx)
	if err != nil {
		return err
	}
	fmt.Println("held", lease.Token())
	for last := time.Now(); ; {
		paused := time.Since(last) > ttl
		switch err := lease.Err(); {
		case errors.Is(err, holdfast.ErrLost):
			fmt.Println("lost")
			return nil
		case paused:
			fmt.Println("still held")
			return nil
		}
		last = time.Now()
		time.Sleep(100 * time.Microsecond) // leaves the processor to the server
	}
}

// A holder is another process that holds the lock, or waits for it.
type holder struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	token string
}

func startHolder(t *testing.T, url string) *holder {
	t.Helper()
	return startHolderFor(t, url, ttl)
}

func startHolderFor(t *testing.T, url string, ttl time.Duration) *holder {
	t.Helper()
	h := startWaiter(t, url, ttl)
	said := h.says(t)
	token, ok := strings.CutPrefix(said, "held ")
	if !ok {
		t.Fatalf("the holder says %q", said)
	}
	h.token = token
	return h
}

// startWaiter starts a holder that does not have the lock yet.
func startWaiter(t *testing.T, url string, ttl time.Duration) *holder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderURL+"="+url, holderTTL+"="+ttl.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &holder{cmd: cmd, lines: bufio.NewScanner(out)}
}

// says returns the next line that the holder prints.
func (h *holder) says(t *testing.T) string {
	t.Helper()
	if !h.lines.Scan() {
		t.Fatalf("the holder says nothing more: %v", h.lines.Err())
	}
	return h.lines.Text()
}
