package batch

// claims has, for the ID of each claim that has operations, the first of these. Further ones stand behind it,
// and wait for the end of those before.
type claims map[string]*call

// add puts a call behind others on the same claim. It is false if there is none.
func (cs claims) add(c *call) (waits bool) {
	if !c.op.Kind.IsOnClaim() {
		return false
	}
	first := cs[c.op.Claim.ID]
	if first == nil {
		cs[c.op.Claim.ID] = c
		return false
	}
	last := first
	for last.behind != nil {
		last = last.behind
	}
	last.behind = c
	return true
}

// isFree reports whether there is no operation on the claim.
func (cs claims) isFree(id string) bool { return cs[id] == nil }

// addFirst is add for a call on a claim that is free.
func (cs claims) addFirst(c *call) {
	if c.op.Kind.IsOnClaim() {
		cs[c.op.Claim.ID] = c
	}
}

// removeFirst is remove for a call that is the first on its claim.
func (cs claims) removeFirst(c *call) (next *call) {
	if !c.op.Kind.IsOnClaim() {
		return nil
	}
	next, c.behind = c.behind, nil
	if next == nil {
		delete(cs, c.op.Claim.ID)
	} else {
		cs[c.op.Claim.ID] = next
	}
	return next
}

// remove takes a call out. If that was the first, it returns the one whose turn it is.
func (cs claims) remove(c *call) (next *call) {
	if !c.op.Kind.IsOnClaim() {
		return nil
	}
	first := cs[c.op.Claim.ID]
	if first == c {
		return cs.removeFirst(c)
	}
	for before := first; before != nil; before = before.behind {
		if before.behind == c {
			before.behind, c.behind = c.behind, nil
			break
		}
	}
	return nil
}

// admit lets a call gather as soon as it is its turn on its claim.
func (s *Sender) admit(c *call) {
	if !s.claims.add(c) {
		s.gather(c)
	}
}

// settle ends what a call was to its claim, so that the next one can go.
func (s *Sender) settle(c *call) {
	if next := s.claims.remove(c); next != nil {
		s.gather(next)
	}
}
