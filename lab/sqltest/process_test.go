//go:build unix

package sqltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// The test binary is also the other processes: this variable says which part to play, on the database named by another.
const (
	partVar = "HOLDFAST_TEST_PART"
	pathVar = "HOLDFAST_TEST_PATH"
)

func TestMain(m *testing.M) {
	part, ok := parts[os.Getenv(partVar)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv(pathVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var parts map[string]func(path string) error

func init() {
	parts = map[string]func(string) error{"hold": hold, "hold with a child": holdWithChild, "hammer": hammer}
}

const longTTL = 10 * time.Minute

func claim(id string) driver.Claim {
	return driver.Claim{Name: "contested", ID: id, Weight: 1, Limit: 1, TTL: longTTL, Queue: true}
}

// hold acquires the lock, says so, and stays until its input ends.
func hold(path string) error {
	d, err := driver.Open(context.Background(), "file:"+path)
	if err != nil {
		return err
	}
	st, err := d.Request(context.Background(), claim("holder"))
	if err != nil || !st.Granted {
		return fmt.Errorf("%+v: %w", st, err)
	}
	fmt.Println("held")
	bufio.NewReader(os.Stdin).ReadByte()
	return nil
}

// holdWithChild does so too, and starts a child that inherits the files that keep the claim alive.
func holdWithChild(path string) error {
	d, err := driver.Open(context.Background(), "file:"+path)
	if err != nil {
		return err
	}
	if _, err := d.Request(context.Background(), claim("holder")); err != nil {
		return err
	}
	child := exec.Command("cat") // until its input ends
	child.Stdin, child.ExtraFiles = os.Stdin, driver.Inherit(d)
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// play starts a process that plays a part, and waits until it says that it holds the lock.
func play(t *testing.T, part, path string) (p *os.Process, endInput func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVar+"="+part, pathVar+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("it says %q", line)
	}
	return cmd.Process, func() { in.Close() }
}

// await waits until the claim is granted, as a client does: it listens, and asks again when it is told to.
func await(t *testing.T, d driver.Driver, c driver.Claim) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		st, err := d.Request(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if st.Granted {
			return time.Now()
		}
		if _, err := driver.Wait(ctx, d, c); err != nil {
			t.Fatal(err)
		}
	}
}

// The claims of a client that was killed are dead at once, though their TTL is long.
func TestKernelTellsOfDeath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	holder, _ := play(t, "hold", path)
	d := openAt(t, path)
	granted := make(chan time.Time, 1)
	go func() { granted <- await(t, d, claim("waiter")) }()
	for {
		if queue, err := d.Queue(t.Context(), "contested"); err != nil || len(queue) == 2 {
			break
		}
	}
	killed := time.Now()
	if err := holder.Kill(); err != nil {
		t.Fatal(err)
	}
	if took := (<-granted).Sub(killed); took > 5*time.Second {
		t.Errorf("granted %v after the kill", took)
	}
}

// A claim lives for as long as a child that inherited its client's file.
func TestChildKeepsTheClaim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	holder, endChild := play(t, "hold with a child", path)
	d := openAt(t, path)
	if err := holder.Kill(); err != nil {
		t.Fatal(err)
	}
	if state, err := holder.Wait(); err != nil || !state.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatal(state, err)
	}
	st, err := d.Request(t.Context(), claim("waiter"))
	if err != nil || st.Granted {
		t.Fatalf("while the child lives: %+v, %v", st, err)
	}
	endChild()
	await(t, d, claim("waiter"))
}

const hammers, blows = 16, 20

// Many processes at one file: nobody gets an error for that, and nobody is inside beside another.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	openAt(t, path)
	var wg sync.WaitGroup
	for range hammers {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), partVar+"=hammer", pathVar+"="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	total, err := os.ReadFile(path + ".count")
	if want := strings.Repeat(".", hammers*blows); err != nil || string(total) != want {
		t.Errorf("%d sections left their mark, want %d: %v", len(total), len(want), err)
	}
}

// hammer adds marks to a file by reading and writing it whole, which only the lock protects.
func hammer(path string) error {
	ctx := context.Background()
	d, err := driver.Open(ctx, "file:"+path)
	if err != nil {
		return err
	}
	for i := range blows {
		c := claim(fmt.Sprintf("%d-%d", os.Getpid(), i))
		st, err := d.Request(ctx, c)
		for err == nil && !st.Granted {
			if _, err = driver.Wait(ctx, d, c); err == nil {
				st, err = d.Request(ctx, c)
			}
		}
		c.Token = st.Token
		if err := errors.Join(err, mark(path+".count"), d.Release(ctx, c)); err != nil {
			return err
		}
	}
	return d.Close()
}

func mark(path string) error {
	marks, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, append(marks, '.'), 0o600)
}
