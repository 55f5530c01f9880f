package experiment

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func unlockAnothers() Experiment {
	return Experiment{
		Name:     "unlock-anothers",
		Question: "What does a holder unlock whose time was over before it was done?",
		Needs:    "Redis",
		Code:     "classic/set_del.go",
		Variants: []Variant{
			{Title: "SET NX PX, then DEL", Run: unlockByDel},
			{Title: "Holdfast", Ours: true, Run: unlockOurs},
		},
		Answer: togetherOrNot,
	}
}

// unlockByDel lets A's time run out, B lock, A unlock, and C try.
func unlockByDel(s *Trial) {
	rdb := s.redis()
	s.Must(rdb.Del(s.Context(), lockKey).Err())
	l := classic.SetThenDel{Redis: rdb, Key: lockKey, TTL: 200 * time.Millisecond}
	s.mustLock(l.TryLock)
	endA := s.Hold("A")
	granted := s.Wait("B")
	s.Must(poll(s.Context(), l.TryLock)) // once A's time is over
	granted()
	s.Must(rdb.Persist(s.Context(), lockKey).Err()) // B's will not be
	endB := s.Hold("B")
	time.Sleep(60 * time.Millisecond) // both work
	s.Mark("A", recording.Noted, "done at last, it deletes the key, which is B's")
	s.Must(l.Unlock(s.Context()))
	endA()
	ours, err := l.TryLock(s.Context())
	s.Must(err)
	if ours {
		s.WorkFor("C", 100*time.Millisecond)
	}
	endB()
	s.Must(l.Unlock(s.Context()))
	s.Exclusive()
}

// unlockOurs pauses A until its time is over, lets B lock, A unlock, and C try.
func unlockOurs(s *Trial) {
	url := "redis://" + s.redisAddr()
	a := s.Participant("A", task{Lock: lockHoldfast, URL: url, TTL: shortTTL})
	a.Lock()
	a.Pause()
	b, c := s.Client(url), s.Client(url)
	lease, end := s.lock("B", b)
	a.Resume()
	a.Look()
	a.Unlock()
	if _, ours := s.try(c); ours {
		s.Work("C")
		s.Result(true, "A's unlocking let C in beside B")
		return
	}
	s.Mark("C", recording.Noted, "it is told that the lock is taken")
	s.Must(lease.Check(s.Context()))
	end()
	s.Must(lease.Release(s.Context()))
	s.Exclusive()
}

// mustLock locks what must be free.
func (s *Trial) mustLock(try func(context.Context) (bool, error)) {
	s.Helper()
	ours, err := try(s.Context())
	s.Must(err)
	if !ours {
		s.Fatal("the lock is not free where the experiment begins")
	}
}
