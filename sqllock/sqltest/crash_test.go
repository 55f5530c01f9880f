package sqltest

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// The claims of these tests live for long, so what frees a lock is that the client is gone.

// atOnce is far below all TTLs, and above what a busy machine needs.
const atOnce = time.Minute

// grantedAtOnce fails unless c is granted at once after something happens, though nobody tells its client.
func grantedAtOnce(t *testing.T, d *drivertest.Facade, c driver.Claim, happens func()) {
	t.Helper()
	granted := awaiting(d, c)
	began := time.Now()
	happens()
	if err := <-granted; err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("granted after %v", took)
	if took > atOnce {
		t.Errorf("granted after %v", took)
	}
}

// startHold starts a process that requests the lock m, and says whether it holds it or is queued.
func startHold(t testing.TB, path, kind, says string) *played.Process {
	t.Helper()
	p := played.Start(t, "hold", path, "m", kind)
	p.Says(t, says)
	return p
}

// A process that is killed holds nothing any more, and the next in line is granted the lock at that instant.
func TestKilledHolder(t *testing.T) {
	path := newFile(t)
	holder := startHold(t, path, "mutex", "held")
	d, next := open(t, path), mutex("m")
	request(t, d, next, false)
	grantedAtOnce(t, d, next, func() { holder.Kill(t) })
}

// A process that is stopped in the middle of a write holds up everybody, but no request waits for longer than its
// context. When it is killed, the others go on at once, and what they hold is still theirs.
func TestStoppedWriter(t *testing.T) {
	path := newFile(t)
	d, held := open(t, path), mutex("m")
	token := request(t, d, held, true).Token
	writer := played.Start(t, "write", path)
	writer.Says(t, "writes")
	writer.Signal(t, syscall.SIGSTOP)
	held.Token = token
	for what, c := range map[string]driver.Claim{"a renewal": held, "a request": mutex("another")} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := d.Request(ctx, c)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, driver.ErrUnsent) {
			t.Errorf("%s: %v, want the end of its context, and ErrUnsent", what, err)
		}
		cancel()
	}
	writer.Kill(t)
	if st := request(t, d, held, true); st.Token != token {
		t.Errorf("the claim has token %d, had %d", st.Token, token)
	}
}

// Nobody has to have waited: whoever asks next is granted the lock.
func TestKilledHolderWithoutWaiters(t *testing.T) {
	path := newFile(t)
	holder := startHold(t, path, "mutex", "held")
	d := open(t, path)
	holder.Kill(t)
	holder.Wait()
	c := mutex("m")
	c.Queue = false
	request(t, d, c, true)
	if queue, err := d.Queue(t.Context(), "m"); err != nil || len(queue) != 1 {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
}

// Who has waited all along notices that the one before it, which has become the holder meanwhile, is killed.
func TestKilledSecondHolder(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	first, third := mutex("m"), mutex("m")
	request(t, d, first, true)
	second := startHold(t, path, "mutex", "queued")
	request(t, d, third, false)
	grantedAtOnce(t, d, third, func() {
		if err := d.Release(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if queue, err := d.Queue(t.Context(), "m"); err != nil || len(queue) != 2 || !queue[0].Granted {
			t.Fatalf("the queue is %+v, %v", queue, err)
		}
		second.Kill(t)
	})
}

// A waiter that is killed holds nobody up, wherever it stands: here a writer between readers.
func TestKilledWaiter(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	first, last := reader("m"), reader("m")
	request(t, d, first, true)
	waiter := startHold(t, path, "writer", "queued")
	request(t, d, last, false)
	grantedAtOnce(t, d, last, func() { waiter.Kill(t) })
}

// The next in line watches all holders, not only the one just ahead of it.
func TestKilledHolderAmongMany(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	holder := startHold(t, path, "reader", "held")
	released, next := reader("m"), writer("m")
	request(t, d, released, true)
	request(t, d, next, false)
	if err := d.Release(t.Context(), released); err != nil {
		t.Fatal(err)
	}
	grantedAtOnce(t, d, next, func() { holder.Kill(t) })
}

// A child that inherited the files keeps the claims of a process that was killed; with the child they end.
func TestChildKeepsClaims(t *testing.T) {
	path := newFile(t)
	parent := played.Start(t, "parent", path, "m", "mutex")
	parent.Says(t, "held")
	d, next := open(t, path), mutex("m")
	request(t, d, next, false)
	parent.Kill(t)
	parent.Process.Wait()
	for range 20 {
		request(t, d, next, false)
	}
	grantedAtOnce(t, d, next, func() { parent.Cue() })
}

// A child may do to the file that it inherited what it likes: the claims live as long as the process that made them.
func TestChildCannotDropClaims(t *testing.T) {
	path := newFile(t)
	one, two := open(t, path), open(t, path)
	request(t, one, mutex("m"), true)
	child := exec.Command("dd", "if=/dev/fd/3", "iflag=nonblock", "count=1") // and reads what is meant for its parent
	child.ExtraFiles = driver.Inherit(one)
	child.Run()
	request(t, two, mutex("m"), false)
	request(t, open(t, path), mutex("m"), false)
}

// A detached claim lives by its TTL alone.
func TestDetachedOutlivesKill(t *testing.T) {
	path := newFile(t)
	holder := played.Start(t, "hold", path, "m", "mutex", "detached")
	holder.Says(t, "held")
	holder.Kill(t)
	holder.Wait()
	for range 3 {
		request(t, open(t, path), mutex("m"), false)
	}
}

// The files of a process that was killed are removed by those who come later.
func TestFilesOfTheDeadAreRemoved(t *testing.T) {
	path := newFile(t)
	holder := startHold(t, path, "mutex", "held")
	holder.Kill(t)
	holder.Wait()
	open(t, path)
	if left := filesOf(t, path); left != 1 {
		t.Errorf("there are files of %d clients, want those of the living one", left)
	}
	if n := count(t, path, "SELECT count(*) FROM holdfast_claims"); n != 0 {
		t.Errorf("%d claims of the dead client are left", n)
	}
}

// A client that closes in peace leaves nothing, and one that holds something leaves what tells that it is gone.
func TestFilesAfterClose(t *testing.T) {
	path := newFile(t)
	d, other := open(t, path), open(t, path)
	request(t, d, mutex("m"), true)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	request(t, other, mutex("m"), true)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if left := filesOf(t, path); left != 1 {
		t.Errorf("there are files of %d clients, want 1", left)
	}
}

// Who only watches learns of the death of a holder, too, though nobody waits for its lock.
func TestWatchSeesDeath(t *testing.T) {
	path := newFile(t)
	holder := startHold(t, path, "mutex", "held")
	d := open(t, path)
	changed := make(chan error, 1)
	go func() { changed <- d.Watch(context.Background(), "m") }()
	for range 3 {
		if queue, err := d.Queue(t.Context(), "m"); err != nil || len(queue) != 1 {
			t.Fatalf("the queue is %+v, %v", queue, err)
		}
	}
	holder.Kill(t)
	holder.Wait()
	if err := <-changed; err != nil {
		t.Error(err)
	}
	if queue, err := d.Queue(t.Context(), "m"); err != nil || len(queue) != 0 {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
}
