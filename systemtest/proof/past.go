package proof

import (
	"maps"

	"github.com/holdfast-go/holdfast/systemtest/history"
)

// A past is what runs on a store leave to those that come after them.
type past struct {
	greatest map[string]uint64 // token of each lock
	setBack  bool              // the store's clock was, at some time
}

// before is what is known of tokens. After a clock was set back nothing is: a lock that rests for long is forgotten,
// and then its tokens come from that clock.
func (p *past) before() map[string]uint64 {
	if p.setBack {
		return nil
	}
	return p.greatest
}

// add adds a run.
func (p *past) add(r Record) {
	p.setBack = p.setBack || setBack(r.Struck)
	next := make(map[string]uint64)
	if !r.beginsAnew() {
		maps.Copy(next, p.greatest)
		for _, v := range r.ours() {
			if v.Outcome == history.Got {
				next[v.Lock] = max(next[v.Lock], v.Token)
			}
		}
	}
	p.greatest = next
}
