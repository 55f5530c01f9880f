package driver

import (
	"context"
	"iter"
)

// A Lister finds locks.
type Lister interface {
	// List yields the names of locks that start with prefix and have claims in their queue, in no particular order,
	// each once. After an error it yields no more. A lock whose records cannot be read, because of their format or the
	// client's rights, is no error: it is listed like the others, and OpQueue says what is wrong with it.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// List yields names as [Lister] says, or an error that wraps [errors.ErrUnsupported].
func List(ctx context.Context, d Driver, prefix string) iter.Seq2[string, error] {
	if l, ok := As[Lister](d); ok {
		return l.List(ctx, prefix)
	}
	return func(yield func(string, error) bool) { yield("", Unsupported(d.Traits(), "listing locks")) }
}

// Pages yields what read returns, one page after the other, for a [Lister] that does not ask for all at once. It ends
// after the last page, after an error, which it yields, or when yield returns false.
func Pages[T any](yield func(T, error) bool, read func() (page []T, more bool, err error)) {
	for more := true; more; {
		page, isMore, err := read()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, one := range page {
			if !yield(one, nil) {
				return
			}
		}
		more = isMore
	}
}
