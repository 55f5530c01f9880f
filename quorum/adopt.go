package quorum

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// adopt finds a claim that another client acquired, by the ID that it has on the nodes and by its token; a token of 0
// is for any. ErrGone says that no majority has it.
func (d *Driver) adopt(ctx context.Context, c driver.Claim) (*claim, error) {
	sightings, err := d.sight(ctx, c)
	if err != nil {
		return nil, err
	}
	round, token := mostSeen(sightings, c.Token)
	switch {
	case round == 0 && len(sightings) > 0:
		return nil, errOtherToken
	case round == 0:
		return nil, driver.ErrGone
	}
	c.Owner, c.Value = described(sightings, round)
	cl := newClaim(c, len(d.nodes))
	cl.state, cl.round, cl.token = held, round, token
	for _, s := range sightings {
		if s.round == round {
			cl.held[s.at] = s.token
		}
	}
	return d.claims.add(cl), nil
}

// described returns owner and value of a claim as a node shows them, for the nodes that get the claim later: a client
// that adopts it does not know them.
func described(seen []sighting, round int) (owner, value string) {
	at := slices.IndexFunc(seen, func(s sighting) bool { return s.round == round && s.owner+s.value != "" })
	if at < 0 {
		return "", ""
	}
	return seen[at].owner, seen[at].value
}

// errOtherToken says that nodes have the claim, but none under the token that was asked for.
var errOtherToken = fmt.Errorf("it has another token: %w", driver.ErrGone)

// A sighting is a claim that is granted on a node.
type sighting struct {
	at, round    int
	token        uint64
	owner, value string
}

// sight looks for a claim on the nodes, until all have answered or had their time: a claim of another client may be on
// a bare majority.
func (d *Driver) sight(ctx context.Context, c driver.Claim) (seen []sighting, err error) {
	type look struct {
		at    int
		queue []driver.Entry
		err   error
	}
	looks := make(chan look, len(d.nodes))
	for i, n := range d.nodes {
		d.spawn(func(ctx context.Context) {
			queue, err := identified(ctx, n, d.patience(c.TTL), queueOf(nodeName(c.Name)))
			looks <- look{i, queue, err}
		})
	}
	var errs []error
	var answered []*node
	for range d.nodes {
		select {
		case l := <-looks:
			if l.err != nil {
				errs = append(errs, l.err)
				continue
			}
			answered = append(answered, d.nodes[l.at])
			for _, e := range l.queue {
				if round, ok := roundOf(c.ID, e.ID); ok && e.Granted {
					seen = append(seen, sighting{l.at, round, e.Token, e.Owner, e.Value})
				}
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-d.lifetime.Done():
			return nil, driver.ErrClosed
		}
	}
	if engines(answered) < majority(len(d.nodes)) {
		return nil, d.notEnough("too few of %d servers show their claims", append(errs, twins(answered)...))
	}
	return seen, nil
}

// mostSeen is the round and the token that most nodes have; nodes that were late have tokens of their own. Where
// the token is known, that is not zero, it is the round in which the claim has it.
func mostSeen(seen []sighting, known uint64) (round int, token uint64) {
	most := 0
	for _, s := range seen {
		if known != 0 && s.token != known {
			continue
		}
		same := 0
		for _, o := range seen {
			if o.round == s.round && o.token == s.token {
				same++
			}
		}
		if same > most {
			most, round, token = same, s.round, s.token
		}
	}
	return round, token
}
