package sqllock

import (
	"context"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// List implements [driver.Lister].
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		names, err := d.names(ctx, prefix)
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// names returns the locks that have live claims.
func (d *Driver) names(ctx context.Context, prefix string) (names []string, err error) {
	err = d.do(ctx, func(t *tx) error {
		names = nil
		rows, err := t.query(nameRows, []byte(prefix), []byte(prefix))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name []byte
			r, err := scan(rows, "", &name)
			if err != nil {
				return err
			}
			if last := len(names) - 1; (last < 0 || names[last] != string(name)) && t.alive(r) {
				names = append(names, string(name))
			}
		}
		return rows.Err()
	})
	return names, err
}

// watchPause is how often Watch looks: nobody rings for those who have no claim.
const watchPause = 100 * time.Millisecond

// Watch implements [driver.Watcher].
func (d *Driver) Watch(ctx context.Context, name string) error {
	first, err := d.mark(ctx, name)
	for mark := first; err == nil && mark == first; {
		if err = driver.Sleep(ctx, watchPause); err == nil {
			mark, err = d.mark(ctx, name)
		}
	}
	return err
}

// mark is something that changes with the queue.
func (d *Driver) mark(ctx context.Context, name string) (mark [3]int64, err error) {
	err = d.do(ctx, func(t *tx) error {
		if _, err := t.settle(name); err != nil {
			return err
		}
		return t.get([]any{&mark[0], &mark[1], &mark[2]}, markOf, []byte(name))
	})
	return mark, err
}

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	fsType, err := fileSystem(d.path)
	if err != nil {
		return nil, err
	}
	findings := []driver.Finding{{Fact: "the file is on " + fsType}}
	err = d.do(ctx, func(t *tx) error {
		var mode string
		var sync int
		if err := t.d.conn.QueryRowContext(t.ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
			return err
		}
		if err := t.d.conn.QueryRowContext(t.ctx, "PRAGMA synchronous").Scan(&sync); err != nil {
			return err
		}
		findings = append(findings, judgeMode(mode, sync))
		return nil
	})
	return findings, err
}

// judgeMode says what the modes mean for tokens. 2 is FULL.
func judgeMode(mode string, sync int) driver.Finding {
	if mode == "wal" && sync >= 2 {
		return driver.Finding{Fact: "each token is on disk before it is granted"}
	}
	return driver.Finding{
		Level:  driver.Warning,
		Fact:   "the journal mode is " + mode + " and a commit does not wait for the disk",
		Advice: "use journal_mode=WAL and synchronous=FULL; otherwise a power failure may forget the last tokens",
	}
}
