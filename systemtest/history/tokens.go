package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Tokens returns an error when two visits had the same token, or when one that was let in before another one asked had
// the greater token.
func (h History) Tokens() error {
	if err := h.Unique(); err != nil {
		return err
	}
	var latest time.Duration // of the calls of visits with smaller tokens
	var by Visit
	for _, v := range h.byToken() {
		if v.Return < latest {
			return fmt.Errorf("%v asked after %v was let in, and has the smaller token", by, v)
		}
		if v.Call > latest {
			latest, by = v.Call, v
		}
	}
	return nil
}

// Unique returns an error when two visits had the same token, or one had none. Of a lock that is shared no more can be
// said: those that hold it together are granted it in any order.
func (h History) Unique() error {
	var last Visit
	for _, v := range h.byToken() {
		switch v.Token {
		case 0:
			return fmt.Errorf("no token: %v", v)
		case last.Token:
			return fmt.Errorf("one token for two: %v, %v", last, v)
		}
		last = v
	}
	return nil
}

// byToken are the visits that got in.
func (h History) byToken() (got []Visit) {
	for _, v := range h.Visits {
		if v.Outcome == Got {
			got = append(got, v)
		}
	}
	slices.SortStableFunc(got, func(a, b Visit) int { return cmp.Compare(a.Token, b.Token) })
	return got
}
