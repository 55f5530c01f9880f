package experiment

import (
	"crypto/rand"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
)

func ttlTooShort() Experiment {
	return Experiment{
		Name:     "ttl-too-short",
		Question: "What if the work takes longer than the lock lives?",
		Needs:    "Redis",
		Code:     "classic/set_compare.go",
		Variants: []Variant{
			{Title: "SET NX PX, without renewal", Run: outlive},
			{Title: "Holdfast, which renews", Ours: true, Run: renew},
		},
		Answer: togetherOrNot,
	}
}

// outlive has A work until B has the lock.
func outlive(s *Trial) {
	rdb := s.redis()
	s.Must(rdb.Del(s.Context(), lockKey).Err())
	a := classic.SetCompareDelete{Redis: rdb, Key: lockKey, Value: rand.Text(), TTL: 200 * time.Millisecond}
	b := classic.SetCompareDelete{Redis: s.redis(), Key: lockKey, Value: rand.Text(), TTL: time.Minute}
	s.mustLock(a.TryLock)
	endA := s.Hold("A")
	granted := s.Wait("B")
	s.Must(poll(s.Context(), b.TryLock))
	granted()
	endB := s.Hold("B")
	time.Sleep(100 * time.Millisecond) // both work
	endA()
	s.Must(a.Unlock(s.Context()))
	endB()
	s.Must(b.Unlock(s.Context()))
	s.Exclusive()
}

// renew has A work for several times its lease, while B waits.
func renew(s *Trial) {
	url := "redis://" + s.redisAddr()
	a, b := s.Client(url, holdfast.WithTTL(shortTTL)), s.Client(url)
	lease, end := s.lock("A", a)
	done := make(chan struct{})
	go func() { // ends when A has given the lock back
		defer close(done)
		granted := s.Wait("B")
		if next, err := b.Mutex("lab").Lock(s.Context()); err == nil {
			granted()
			s.Work("B")
			_ = next.Release(s.Context())
		}
	}()
	select {
	case <-time.After(2 * shortTTL): // A works
	case <-done:
	}
	err := lease.Err()
	end()
	s.Must(lease.Release(s.Context()))
	<-done
	s.Exclusive()
	if err != nil {
		s.Result(true, "A lost the lock while it worked: %v", err)
	}
}
