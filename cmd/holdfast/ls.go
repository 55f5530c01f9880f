package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// lsVerb is holdfast ls.
func (a *app) lsVerb() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use:   "ls [--watch] [PREFIX]",
		Short: "List the locks that are held or waited for",
		Long: `Ls lists the locks that are held or waited for and whose names start with PREFIX, one per line, with the number of
holders and waiters and the first holder. With --json it prints a list of the objects that show prints. Ls also lists a
lock that it cannot read, and gives the reason on standard error, or in "error" with --json.

` + watchHelp + `

` + helpCodes + helpSignal + `
  1    a lock cannot be read, or any other error` + helpUsage + helpUnavailable,
		ValidArgsFunction: a.completeName,
		Args:              takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			return a.use(c.Context(), func(s *store) error {
				if watch {
					return a.watchLocks(c.Context(), s, prefix)
				}
				views, err := s.views(c.Context(), prefix)
				if err != nil {
					return err
				}
				return errors.Join(a.printLocks(views), unread(views))
			})
		},
	}
	a.backend.register(c)
	registerWatch(c, &watch)
	return c
}

// watchLocks looks every second: no backend pushes which locks there are.
func (a *app) watchLocks(ctx context.Context, s *store, prefix string) error {
	look := func(ctx context.Context) ([]view, error) { return s.views(ctx, prefix) }
	return a.watch(ctx, again(listLimit, look), a.display(s.notedIn(ctx), func(views []view) []string {
		if len(views) == 0 {
			return []string{"no lock is held or waited for"}
		}
		return tableOf(views).lines()
	}))
}

// views returns the locks whose names start with prefix, sorted. Those that became free meanwhile are left out.
func (s *store) views(ctx context.Context, prefix string) ([]view, error) {
	var names []string
	for name, err := range s.Names(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	views, err := s.viewAll(ctx, names)
	if err != nil {
		return nil, err
	}
	becameFree := func(v view) bool { return v.isFree() && v.Error == "" }
	return slices.DeleteFunc(views, becameFree), nil
}

// listAtOnce is how many locks of a list are asked for at the same time: too few to keep those waiting who lock.
const listAtOnce = 16

// viewAll returns the views of locks in the order of their names. The first error that concerns them all ends the
// questions that are under way.
func (s *store) viewAll(ctx context.Context, names []string) ([]view, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	views := make([]view, len(names))
	errs := make(chan error, listAtOnce) // one of each that asks, at most
	var asked atomic.Int64
	var asking sync.WaitGroup
	for range min(len(names), listAtOnce) {
		asking.Go(func() {
			for i := asked.Add(1) - 1; i < int64(len(names)); i = asked.Add(1) - 1 {
				v, err := s.view(ctx, names[i])
				if err != nil {
					errs <- err
					cancel()
					return
				}
				views[i] = v
			}
		})
	}
	asking.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return views, nil
	}
}

// view returns one of many locks. An error is only what concerns the others too; what is wrong with this one is in
// its view.
func (s *store) view(ctx context.Context, name string) (view, error) {
	queue, err := s.Client.Queue(ctx, name) // a name that was found may be one that nobody can lock
	v := viewOf(name, queue)
	switch {
	case err == nil:
	case isOfNetwork(err), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		return v, err
	default:
		v.Error = err.Error()
	}
	return v, nil
}

// unread is the error for locks that could not be read, or nil if there are none.
func unread(views []view) error {
	var why []string
	for _, v := range views {
		if v.Error != "" {
			why = append(why, fmt.Sprintf("%s cannot be read: %s", printable(v.Name), v.Error))
		}
	}
	if why == nil {
		return nil
	}
	return fail("%s", strings.Join(why, "\n"))
}

func (a *app) printLocks(views []view) error {
	if a.json {
		return printJSON(a.out, views)
	}
	if len(views) == 0 {
		return nil
	}
	return tableOf(views).print(a.out)
}

// tableOf is a list of locks.
func tableOf(views []view) *table {
	t := &table{}
	t.add("NAME", "HOLDERS", "WAITERS", "HELD BY", "FOR")
	for _, v := range views {
		t.add(v.line()...)
	}
	return t
}

// line is the line of a lock in a list.
func (v view) line() []string {
	if v.Error != "" {
		return []string{v.Name, "?", "?", "?", "?"}
	}
	return append([]string{v.Name, strconv.Itoa(len(v.Holders)), strconv.Itoa(len(v.Waiters))}, v.firstHolder()...)
}

// firstHolder returns who has the lock, and for how long.
func (v view) firstHolder() []string {
	if len(v.Holders) == 0 {
		return []string{"-", "-"}
	}
	return []string{v.Holders[0].who(), v.Holders[0].age()}
}
