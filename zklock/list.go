package zklock

import (
	"context"
	"iter"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// List yields the names of locks, as [driver.Lister] says.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if d.lifetime.Err() != nil {
			yield("", driver.ErrClosed)
			return
		}
		told := make(map[string]bool)
		once := func(name string, err error) bool {
			if told[name] {
				return true
			}
			told[name] = true
			return yield(name, err)
		}
		_, err := inquire(ctx, d, func(s *session) (none struct{}, err error) {
			if err := s.sync(ctx); err != nil {
				return none, err
			}
			return none, d.list(ctx, s, prefix, once)
		})
		if err != nil {
			yield("", err)
		}
	}
}

// list walks through what may be queues, one level after the other: in the native layout there is one level.
func (d *Driver) list(ctx context.Context, s *session, prefix string, yield func(string, error) bool) error {
	for level := []string{""}; len(level) > 0; {
		found := make([]children, len(level))
		forEach(len(level), func(i int) { found[i] = d.below(ctx, s, level[i]) })
		var next []string
		for i, in := range found {
			if in.err != nil {
				return in.err
			}
			name, ok := d.keys.name(level[i])
			if ok && in.claims && strings.HasPrefix(name, prefix) && !yield(name, nil) {
				return nil
			}
			next = append(next, d.worthwhile(in.others, prefix)...)
		}
		level = next
	}
	return nil
}

// children are what is below a node.
type children struct {
	claims bool
	others []string // their paths below the root
	err    error
}

func (d *Driver) below(ctx context.Context, s *session, path string) (in children) {
	if d.keys.layout == Native && path != "" {
		seats, err := s.seats(ctx, d.keys.root+"/"+path)
		if isRefused(err) { // listed, so that it hides no other: its queue says what is wrong
			return children{claims: true}
		}
		return children{claims: len(seats) > 0, err: err}
	}
	at := below(d.keys.root, path)
	if at == "" {
		at = "/"
	}
	names, err := s.children(ctx, at)
	if isRefused(err) && path != "" {
		return in // not ours to see
	}
	in.err = err
	for _, name := range names {
		if _, ok := parse(name); ok {
			in.claims = true
		} else {
			in.others = append(in.others, strings.TrimPrefix(path+"/"+name, "/"))
		}
	}
	return in
}

// worthwhile leaves out paths at and below which no name begins with prefix.
func (d *Driver) worthwhile(paths []string, prefix string) (list []string) {
	for _, path := range paths {
		name, ok := d.keys.name(path)
		deeper := d.keys.layout != Native && strings.HasPrefix(prefix, name+"/")
		if ok && (deeper || strings.HasPrefix(name, prefix)) {
			list = append(list, path)
		}
	}
	return list
}
