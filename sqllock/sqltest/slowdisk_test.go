package sqltest

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A slowDisk is an SQL driver of which each commit takes as long as the test says, once it is slow. What only reads
// does not wait for the disk.
type slowDisk struct {
	of      sqldriver.Driver
	path    string
	slow    *atomic.Bool
	looks   *atomic.Bool       // so are commits of what changes nothing
	commits chan chan struct{} // one for each commit, which goes on when it is closed
	over    chan struct{}      // closed when no more come
}

func (d slowDisk) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := d.of.Open(d.path)
	return &slowConn{Conn: conn, disk: d}, err
}

func (d slowDisk) Driver() sqldriver.Driver { return d.of }

type slowConn struct {
	sqldriver.Conn
	disk   slowDisk
	before int64 // changes, when the transaction began
}

// changesOf counts what a connection has changed so far.
func changesOf(c sqldriver.Conn) int64 {
	dest := make([]sqldriver.Value, 1)
	rows, err := c.(sqldriver.QueryerContext).QueryContext(context.Background(), "SELECT total_changes()", nil)
	if err == nil {
		err = errors.Join(rows.Next(dest), rows.Close())
	}
	if err != nil {
		panic(err)
	}
	return dest[0].(int64)
}

func (c *slowConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, sqldriver.ErrSkip
	}
	if strings.HasPrefix(query, "BEGIN") {
		c.before = changesOf(c.Conn)
	}
	if query == "COMMIT" && c.disk.slow.Load() && (c.disk.looks.Load() || changesOf(c.Conn) > c.before) {
		goOn := make(chan struct{})
		c.disk.commits <- goOn
		<-goOn
	}
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, nil)
}

// onSlowDisk opens a file on a disk that is slow from now on.
func onSlowDisk(t *testing.T, path string) (*drivertest.Facade, slowDisk) {
	t.Helper()
	disk := slowDisk{
		of: openSQL(t, path).Driver(), path: path, slow: new(atomic.Bool), looks: new(atomic.Bool),
		commits: make(chan chan struct{}), over: make(chan struct{}),
	}
	t.Cleanup(func() { close(disk.over) }) // after the driver, which may have begun to look at something
	db := sql.OpenDB(disk)
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	disk.slow.Store(true)
	return d, disk
}

// A request ends with its context also when it is the one whose writing the disk takes long for. What was written
// counts, and others are told of it, when the disk is done.
func TestSlowDisk(t *testing.T) {
	path := newFile(t)
	d, disk := onSlowDisk(t, path)
	other, held, next := open(t, path), mutex("m"), mutex("m")

	ctx, cancel := context.WithCancelCause(t.Context())
	answered := make(chan error)
	go func() {
		_, err := d.Request(ctx, held)
		answered <- err
	}()
	goOn := <-disk.commits
	gaveUp := errors.New("gave up")
	cancel(gaveUp)
	if err := <-answered; !errors.Is(err, gaveUp) || errors.Is(err, driver.ErrUnsent) || driver.IsAnswer(err) {
		t.Errorf("a request: %v, want the end of its context, and no answer", err)
	}
	disk.slow.Store(false)
	close(goOn)
	request(t, other, next, false)
	request(t, d, held, true)

	disk.slow.Store(true)
	ctx, cancel = context.WithCancelCause(t.Context())
	go func() { answered <- d.Release(ctx, held) }()
	goOn = <-disk.commits
	cancel(gaveUp)
	if err := <-answered; !errors.Is(err, gaveUp) || errors.Is(err, driver.ErrUnsent) || driver.IsAnswer(err) {
		t.Errorf("a release: %v, want the end of its context, and no answer", err)
	}
	disk.slow.Store(false)
	grantedAtOnce(t, other, next, func() { close(goOn) })
	if err := d.Release(t.Context(), held); err != nil {
		t.Errorf("the release again: %v", err)
	}
}

// Whatever ends a request whose commit is under way: nobody takes that for an answer to it, nor for its not having
// been sent. Else a claim that is written after that would not be undone. A lease's context ends with errors like
// these.
func TestSlowDiskAndCauses(t *testing.T) {
	path := newFile(t)
	d, disk := onSlowDisk(t, path)
	for _, cause := range []error{
		driver.ErrGone, driver.ErrRefused, driver.ErrUnsent, errors.New("database is locked"),
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		answered, c := make(chan error), mutex(cause.Error())
		go func() {
			_, err := d.Request(ctx, c)
			answered <- err
		}()
		goOn := <-disk.commits
		cancel(cause)
		if err := <-answered; driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) {
			t.Errorf("ended by %q, a request fails with %q, which says that it has done nothing", cause, err)
		}
		close(goOn)
	}
	disk.slow.Store(false)
}

// A renewal does not wait for all requests that came before it: where much is asked for, and the disk is slow, that
// could be longer than the lease lasts.
func TestRenewalPassesRequests(t *testing.T) { passes(t, renewIt, askForAnother) }

// Nor does it wait for all releases.
func TestRenewalPassesReleases(t *testing.T) {
	passes(t, renewIt, func(d *drivertest.Facade) <-chan error {
		over := make(chan error, 1)
		go func() {
			if err := releaseIt(d, mutex(driver.NewID())); !errors.Is(err, driver.ErrGone) {
				over <- err
			}
			close(over)
		}()
		return over
	})
}

// A release does not wait for all requests either: others wait for the lock, and the lease ends meanwhile.
func TestReleasePassesRequests(t *testing.T) { passes(t, releaseIt, askForAnother) }

// Nor does a request for a claim that is there, as one that leaves it alone for the rest of its minimum hold.
func TestLeavingAlonePassesRequests(t *testing.T) {
	passes(t, func(d *drivertest.Facade, c driver.Claim) error {
		c.Detached = true
		_, err := d.Request(context.Background(), c)
		return err
	}, askForAnother)
}

// Nor does whatever else is about a claim that is there.
func TestDeedsPassRequests(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(*drivertest.Facade, driver.Claim) error{
		"set a value": func(d *drivertest.Facade, c driver.Claim) error {
			return d.SetValue(ctx, c, driver.Value{Text: "left", Token: c.Token, Set: time.Now()})
		},
		"revoke": func(d *drivertest.Facade, c driver.Claim) error {
			return d.Revoke(ctx, c.Name, c.ID)
		},
		"break": func(d *drivertest.Facade, c driver.Claim) error {
			return d.Break(ctx, c.Name, c.ID)
		},
		"look at the queue": func(d *drivertest.Facade, c driver.Claim) error {
			_, err := d.Queue(ctx, c.Name)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { passes(t, do, askForAnother) })
	}
}

// Nor does who waits, and is granted a lock by another client.
func TestGrantPassesRequests(t *testing.T) {
	passesInTime(t, func() int {
		path := newFile(t)
		d, disk := onSlowDisk(t, path)
		disk.slow.Store(false)
		other := open(t, path)
		held, next := claimed.Acquire(t, other, mutex("m")), claimed.Enqueue(t, d, mutex("m"))
		return disk.commitsBefore(t, d, func() error {
			if err := releaseIt(other, held); err != nil {
				return err
			}
			st, err := d.Wait(context.Background(), next)
			if err == nil && !st.Granted {
				t.Errorf("the one who waits is told %+v", st)
			}
			return err
		}, askForAnother)
	})
}

func renewIt(d *drivertest.Facade, c driver.Claim) error {
	_, err := d.Renew(context.Background(), []driver.Claim{c})
	return err
}

func releaseIt(d *drivertest.Facade, c driver.Claim) error { return d.Release(context.Background(), c) }

func askForAnother(d *drivertest.Facade) <-chan error {
	return claimed.InBackground(d, mutex(driver.NewID()))
}

// passes fails unless what is done to a claim is done long before all that came before it.
func passes(
	t *testing.T, do func(*drivertest.Facade, driver.Claim) error, before func(*drivertest.Facade) <-chan error,
) {
	t.Helper()
	passesInTime(t, func() int {
		d, disk := onSlowDisk(t, newFile(t))
		disk.slow.Store(false)
		held := claimed.Acquire(t, d, mutex("held"))
		return disk.commitsBefore(t, d, func() error { return do(d, held) }, before)
	})
}

// inLine is how many stand in line before what passes them.
const inLine = 40

// passesInTime fails unless there are few commits before something is done. Where a machine is busy that may come
// into the line late: then it is tried again.
func passesInTime(t *testing.T, commitsBefore func() int) {
	t.Helper()
	var all []int
	for range 5 {
		commits := commitsBefore()
		if commits <= inLine/2 {
			return
		}
		all = append(all, commits)
	}
	t.Errorf("it took %d commits, where %d were in line", all, inLine)
}

// commitsBefore counts the commits before do is done, where a client was asked for much before.
func (disk slowDisk) commitsBefore(
	t *testing.T, d *drivertest.Facade, do func() error, before func(*drivertest.Facade) <-chan error,
) (commits int) {
	t.Helper()
	disk.slow.Store(true)
	var begun []<-chan error
	for range inLine {
		begun = append(begun, before(d))
	}
	time.Sleep(100 * time.Millisecond) // they are in line by then, and so is what passes them
	done := make(chan error, 1)
	go func() { done <- do() }()
	time.Sleep(100 * time.Millisecond)
	for over := false; !over; {
		select {
		case goOn := <-disk.commits:
			commits++
			close(goOn)
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			over = true
		}
	}
	disk.slow.Store(false)
	go func() { // those that had begun before
		for {
			select {
			case goOn := <-disk.commits:
				close(goOn)
			case <-disk.over:
				return
			}
		}
	}()
	for _, b := range begun {
		if err := <-b; err != nil {
			t.Error(err)
		}
	}
	return commits
}
