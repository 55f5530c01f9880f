package main

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/driver"
)

// watchHelp is for the verbs that have --watch.
const watchHelp = `With --watch it runs until it is interrupted. On a terminal it shows the current state, and updates it every
second. Elsewhere it prints a line whenever a claim is queued, is granted or ends, and who has broken it if somebody did;
with --json it prints the queue of each lock that changed.`

func registerWatch(c *cobra.Command, watch *bool) {
	c.Flags().BoolVar(watch, "watch", false, "keep running, and show each change")
}

// A looker yields queues again and again, until ctx ends. An error says that they are not known at the moment.
type looker func(ctx context.Context) iter.Seq2[[]view, error]

// watch shows what a looker sees, until it is interrupted: drawn anew on a terminal, as a line for each change
// elsewhere.
func (a *app) watch(ctx context.Context, looks looker, show display) error {
	return untilSignal(ctx, func(watching context.Context) error {
		served := false
		for views, err := range looks(watching) {
			if watching.Err() != nil {
				break
			}
			switch {
			case errors.Is(err, errLate):
				err = show.outage(err)
			case err == nil:
				served = true
				err = show.update(views)
			case served && !errors.Is(err, driver.ErrRefused): // what is shown next tells that the outage is over
				err = show.outage(err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// A display shows queues.
type display interface {
	update([]view) error // all that there are
	outage(error) error  // they are not known at the moment
}

// display returns what suits who reads standard output. draw makes the lines of a terminal, and noted adds the notes on
// a lock.
func (a *app) display(noted func(view, time.Time) view, draw func([]view) []string) display {
	if isScreen(a.out) && !a.json {
		return &screen{out: a.out, draw: draw}
	}
	return &journal{app: a, known: map[string]view{}, noted: noted}
}

// Bounds of looking again and again.
const (
	lookLimit = 5 * time.Second  // a look at one lock is given up after it
	listLimit = 60 * time.Second // and one at all of them, of which there may be thousands
	lookShare = 4                // so many times as long as a look takes is the pause after it, at least
)

// errLate says that a look goes on, and that it takes longer than it should.
var errLate = errors.New("the backend has not answered yet; what was shown before may be out of date")

// again looks every second, or less often where a look takes long. A look has a limit. One that takes lookLimit longer
// than the last one yields errLate meanwhile.
func again(limit time.Duration, look func(context.Context) ([]view, error)) looker {
	return func(ctx context.Context) iter.Seq2[[]view, error] {
		return func(yield func([]view, error) bool) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			for usual := time.Duration(0); ; {
				begin := time.Now()
				seen := lookAside(ctx, limit, look)
				s, inTime := awaitSight(seen, lookLimit+usual)
				if !inTime {
					if !yield(nil, errLate) {
						return
					}
					s = <-seen
				}
				if s.err == nil {
					usual = time.Since(begin)
				}
				if !yield(s.views, s.err) || driver.Sleep(ctx, max(nextLook, lookShare*time.Since(begin))) != nil {
					return
				}
			}
		}
	}
}

// A sight is what a look brought.
type sight struct {
	views []view
	err   error
}

// lookAside looks while the caller does other things.
func lookAside(ctx context.Context, limit time.Duration, look func(context.Context) ([]view, error)) <-chan sight {
	seen := make(chan sight, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		views, err := look(ctx)
		seen <- sight{views, err}
	}()
	return seen
}

// awaitSight waits for what a look brings, for so long at most.
func awaitSight(seen <-chan sight, most time.Duration) (s sight, inTime bool) {
	select {
	case s = <-seen:
		return s, true
	case <-time.After(most):
		return sight{}, false
	}
}

// watched looks at one lock whenever that may have changed.
func (s *store) watched(name string) looker {
	return func(ctx context.Context) iter.Seq2[[]view, error] {
		return func(yield func([]view, error) bool) {
			for queue, err := range s.Watch(ctx, name) {
				if !yield([]view{s.noted(ctx, viewOf(name, queue))}, err) {
					return
				}
			}
		}
	}
}
