package experiment

import (
	"time"

	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func getSetClocks() Experiment {
	return Experiment{
		Name:     "getset-clocks",
		Question: "Whose clock decides when a lock ends?",
		Needs:    "Redis",
		Code:     "classic/getset.go",
		Variants: []Variant{
			{Title: "SETNX and GETSET, with B's clock a minute ahead", Run: skewedClocks},
			{Title: "SETNX and GETSET, with a loser that comes too late", Run: lateGetSet},
			{Title: "Holdfast", Ours: true, Run: serversClock},
		},
		Answer: togetherOrNot,
	}
}

func (s *Trial) getSet(ahead, ttl time.Duration) classic.GetSet {
	return classic.GetSet{Redis: s.redis(), Key: lockKey, TTL: ttl,
		Now: func() time.Time { return time.Now().Add(ahead) }}
}

// skewedClocks lets a client lock whose clock is ahead, while another holds the lock.
func skewedClocks(s *Trial) {
	s.Must(s.redis().Del(s.Context(), lockKey).Err())
	a, b := s.getSet(0, 30*time.Second), s.getSet(time.Minute, 30*time.Second)
	s.mustLock(a.TryLock)
	endA := s.Hold("A")
	ours, err := b.TryLock(s.Context())
	s.Must(err)
	if ours {
		s.Mark("B", recording.Noted, "by its clock A's lock ended long ago")
		s.WorkFor("B", 50*time.Millisecond) // beside A
	}
	endA()
	s.Exclusive()
}

// lateGetSet has two find a lock past; the second replaces the time that the first has written.
func lateGetSet(s *Trial) {
	rdb := s.redis()
	s.Must(rdb.Set(s.Context(), lockKey, 1, 0).Err()) // a lock that ended long ago
	winner, loser := s.getSet(0, 10*time.Second), s.getSet(0, time.Hour)
	var end func()
	loser.Between = func() {
		s.mustLock(winner.TryLock)
		end = s.Hold("winner")
	}
	ours, err := loser.TryLock(s.Context())
	s.Must(err)
	if ours {
		s.Fatal("the loser has won")
	}
	until, err := rdb.Get(s.Context(), lockKey).Int64()
	s.Must(err)
	end()
	left := time.Until(time.UnixMilli(until))
	s.Mark("loser", recording.Noted, "it has not got the lock, and has replaced the time at which that ends")
	s.Number("asked for by the winner", winner.TTL.Seconds(), "s")
	s.Number("the lock ends in", left.Seconds(), "s")
	s.Result(left > 2*winner.TTL, "the winner's lock of %v ends in %v, because a loser has written that", winner.TTL,
		left.Round(time.Minute))
}

// serversClock has a second client try. No client's clock is asked.
func serversClock(s *Trial) {
	url := "redis://" + s.redisAddr()
	lease, end := s.lock("A", s.Client(url))
	if _, ours := s.try(s.Client(url)); ours {
		s.Work("B")
	}
	s.Mark("B", recording.Noted, "it is told that the lock is taken: the server's clock counts, and no client's is "+
		"sent to it")
	end()
	s.Must(lease.Release(s.Context()))
	s.Exclusive()
}
