package etcdlock

import (
	"fmt"
	"testing"
)

// However many locks a list has, it remembers only those whose keys may still come.
func TestPassing(t *testing.T) {
	var p passing
	for i := range 1000 {
		outer := fmt.Sprintf("locks/%04d/", i)
		inner := outer + "inner/"
		for _, row := range []struct {
			key, queue string
			want       bool
		}{
			{outer + "a/1f", outer, true},
			{inner + "a/1f", inner, true},
			{inner + "b/1f", inner, false},
			{outer + "k/1f", outer, false},
		} {
			if got := p.first(row.key, row.queue); got != row.want {
				t.Fatalf("%q is the first key of %q: %t, want %t", row.key, row.queue, got, row.want)
			}
			if len(p) > 2 {
				t.Fatalf("after %q it remembers %q", row.key, p)
			}
		}
	}
}
