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
	var got []Visit
	for _, v := range h.Visits {
		if v.Outcome == Got {
			got = append(got, v)
		}
	}
	slices.SortFunc(got, func(a, b Visit) int { return cmp.Compare(a.Token, b.Token) })
	var latest time.Duration // of the calls of visits with smaller tokens
	var by Visit
	for i, v := range got {
		switch {
		case v.Token == 0:
			return fmt.Errorf("no token: %v", v)
		case i > 0 && v.Token == got[i-1].Token:
			return fmt.Errorf("one token for two: %v, %v", got[i-1], v)
		case v.Return < latest:
			return fmt.Errorf("%v asked after %v was let in, and has the smaller token", by, v)
		}
		if v.Call > latest {
			latest, by = v.Call, v
		}
	}
	return nil
}
