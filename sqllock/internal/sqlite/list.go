package sqlite

import (
	"context"
	"iter"

	"github.com/holdfast-go/holdfast/driver"
)

// Queue implements [driver.Driver].
func (d *Driver) Queue(ctx context.Context, name string) (entries []driver.Entry, err error) {
	err = d.write(ctx, func(t *tx) error {
		entries = nil
		if _, err := t.settle(name, whole); err != nil {
			return err
		}
		return t.rows(queueOf, []any{[]byte(name)}, func(r row) bool {
			if t.isAlive(r) {
				entries = append(entries, r.entry(t.now))
			}
			return true
		})
	})
	return entries, err
}

// List implements [driver.Lister]. The names are those of one moment.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		names, err := d.names(ctx, prefix)
		if err != nil {
			yield("", err)
			return
		}
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

func (d *Driver) names(ctx context.Context, prefix string) (names []string, err error) {
	err = d.read(ctx, func(t *tx) error {
		names = nil
		return t.each(namesOf, []any{[]byte(prefix), int64(t.now)}, func(scan func(...any) error) (bool, error) {
			var name []byte
			var client string
			var detached bool
			if err := scan(&name, &client, &detached); err != nil {
				return false, err
			}
			listed := len(names) > 0 && names[len(names)-1] == string(name)
			if !listed && (detached || t.clientIsAlive(client)) {
				names = append(names, string(name))
			}
			return true, nil
		})
	})
	return names, err
}
