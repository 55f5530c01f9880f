package redislock

import (
	"slices"
	"strconv"
	"strings"
)

// An operation is a script for one claim, and what it takes.
type operation struct {
	script *script // does it for this claim alone
	keys   []string
	args   []string
	group  string // what batch.lua calls it; "" for one that cannot go with others
}

// Groups of batch.lua. A first request has its kind for one.
const (
	groupRenew   = "n"
	groupRelease = "r"
	groupPropose = "p"
)

// own are the arguments that are the claim's: its ID, and its token if it has one. Those of a first request have the
// name of its group in the place of a token.
func (o *operation) own() []string {
	if o.group == o.args[1] {
		return o.args[:1]
	}
	return o.args[:2]
}

// terms are arguments that operations often share, like the TTL. batch.lua takes them once for all that do.
func (o *operation) terms() []string { return o.args[2:] }

// goesWith reports whether operations can be in one group.
func (o *operation) goesWith(p *operation) bool {
	return o.group == p.group && slices.Equal(o.terms(), p.terms())
}

// mostInBatch is how many operations go as one script. With more the server would begin later, and the client would
// wait longer for the first answer: each would rest while the other works.
const mostInBatch = 24

// writeBatch writes so many operations as batch.lua takes them, in groups of those with the same terms, and returns
// where each of its answers belongs.
func writeBatch(n int, op func(at int) *operation) (keys, args []string, places []int) {
	keys = make([]string, 0, n*keysOfLock)
	args = make([]string, 0, n*4)
	places = make([]int, 0, n)
	var written [mostInBatch]bool
	for first := range n {
		if written[first] {
			continue
		}
		o := op(first)
		count, begun := len(args)+1, len(places)
		args = append(args, o.group, "")
		args = append(args, o.terms()...)
		for at := first; at < n; at++ {
			if same := op(at); !written[at] && same.goesWith(o) {
				written[at] = true
				keys = append(keys, same.keys...)
				args = append(args, same.own()...)
				places = append(places, at)
			}
		}
		args[count] = strconv.Itoa(len(places) - begun)
	}
	return keys, args, places
}

// readBatch gives each operation what batch.lua answered.
func readBatch(values []string, err error, places []int) []Reply {
	if err == nil && len(values) != len(places) {
		err = errNotUnderstood
	}
	replies := make([]Reply, len(places))
	for i, at := range places {
		replies[at].Err = err
		if err != nil {
			continue
		}
		if text, failed := strings.CutPrefix(values[i], "!"); failed {
			replies[at].Err = explain(ReplyError(text))
		} else {
			replies[at].Values = values[i : i+1 : i+1]
		}
	}
	return replies
}

// operation returns a script for a claim as an operation. Each has more arguments in rare cases, for which a batch has
// no room.
func (d *native) operation(s *script, k keys, args []string) operation {
	o := operation{script: s, keys: k.all(), args: args}
	switch {
	case s == &d.scripts.request && len(args) == 4:
		o.group = args[1]
	case s == &d.scripts.renew && len(args) == 4:
		o.group = groupRenew
	case s == &d.scripts.release && len(args) == 2:
		o.group = groupRelease
	case s == &d.scripts.propose && len(args) == 6:
		o.group = groupPropose
	}
	return o
}
