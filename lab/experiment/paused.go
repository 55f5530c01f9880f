package experiment

import "time"

func fencing() Experiment {
	return Experiment{
		Name:     "fencing",
		Question: "Who stops the write of a holder that was paused until its lock had passed to another?",
		Needs:    "Redis",
		Code:     "classic/set_compare.go",
		Variants: []Variant{
			{Title: "SET NX PX, and no token", Run: func(s *Trial) {
				s.pausedWriter(task{Lock: lockSET, Addrs: []string{s.redisAddr()}, TTL: 300 * time.Millisecond})
			}},
			{Title: "Holdfast, with a token", Ours: true, Run: func(s *Trial) {
				s.pausedWriter(task{Lock: lockHoldfast, URL: "redis://" + s.redisAddr(), TTL: shortTTL})
			}},
		},
		Answer: lateWrites,
	}
}

// pausedWriter pauses A, lets B lock and write, and A go on. It fails if A's late write is accepted.
func (s *Trial) pausedWriter(r task) {
	account := s.resource()
	r.Resource = account.source
	a, b := s.Participant("A", r), s.Participant("B", r)
	a.Lock()
	a.Pause()
	b.Lock()
	b.Write()
	a.Resume()
	accepted := a.Write() // without a look at its lease: that may have been just before the pause
	knows := !a.Look()
	a.Unlock()
	b.Unlock()
	switch {
	case accepted:
		s.Result(true, "A's late write was accepted, after B's")
	case !knows:
		s.Result(true, "A does not know that it has lost the lock")
	default:
		s.Result(false, "A's late write was refused, and A knew at its first look that it had lost the lock")
	}
}
