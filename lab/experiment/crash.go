package experiment

import (
	"time"

	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func setnxCrash() Experiment {
	return Experiment{
		Name:     "setnx-crash",
		Question: "Who gets a lock made with SETNX whose holder has crashed?",
		Needs:    "Redis",
		Code:     "classic/setnx.go",
		Variants: []Variant{
			{Title: "SETNX, then DEL", Run: func(s *Trial) { crashOnRedis(s, task{Lock: lockSETNX}) }},
			{Title: "Holdfast", Ours: true, Run: crashOfOursOnRedis},
		},
		Answer: afterCrash,
	}
}

func setnxExpireGap() Experiment {
	return Experiment{
		Name:     "setnx-expire-gap",
		Question: "What if a holder crashes after SETNX and before EXPIRE?",
		Needs:    "Redis",
		Code:     "classic/setnx_expire.go",
		Variants: []Variant{
			{Title: "SETNX, then EXPIRE", Run: func(s *Trial) {
				crashOnRedis(s, task{Lock: lockSETNXBeforeExpire, TTL: time.Second})
			}},
			{Title: "Holdfast, killed as soon as it has the lock", Ours: true, Run: crashOfOursOnRedis},
		},
		Answer: afterCrash,
	}
}

func ttlTooLong() Experiment {
	return Experiment{
		Name:     "ttl-too-long",
		Question: "How long does everybody wait for a holder that has crashed?",
		Needs:    "Redis",
		Code:     "classic/set_compare.go",
		Variants: []Variant{
			{Title: "SET NX PX with ten minutes, to be on the safe side", Run: func(s *Trial) {
				crashOnRedis(s, task{Lock: lockSET, TTL: 10 * time.Minute})
			}},
			{Title: "Holdfast, which renews a short lease", Ours: true, Run: crashOfOursOnRedis},
		},
		Answer: afterCrash,
	}
}

// crashOnRedis kills a holder, and fails if others will wait for longer than anybody's work takes.
func crashOnRedis(s *Trial, r task) {
	r.Addrs = []string{s.redisAddr()}
	rdb := s.redis()
	s.Must(rdb.Del(s.Context(), lockKey).Err())
	a := s.Participant("A", r)
	a.Lock()
	a.Crash()
	ours, err := classic.SetNX{Redis: rdb, Key: lockKey}.TryLock(s.Context())
	s.Must(err)
	left, err := rdb.PTTL(s.Context(), lockKey).Result()
	s.Must(err)
	switch {
	case ours:
		s.Result(false, "the lock was free at once")
	case left < 0:
		s.Wait("B")
		s.Mark("B", recording.Noted, "it waits, for ever: the key has no time to live")
		s.Result(true, "the key has no time to live, so that everybody waits for ever")
	default:
		s.Wait("B")
		s.Mark("B", recording.Noted, "it waits, %v more", left.Round(time.Second))
		s.Number(stillToWait, left.Seconds(), "s")
		s.Result(left > time.Minute, "everybody waits %v more for nobody", left.Round(time.Second))
	}
}

func crashOfOursOnRedis(s *Trial) { crashOfOurs(s, "redis://"+s.redisAddr()) }

// crashOfOurs kills a holder, and fails if the next does not have the lock soon.
func crashOfOurs(s *Trial, url string) {
	a := s.Participant("A", task{Lock: lockHoldfast, URL: url, TTL: shortTTL})
	a.Lock()
	a.Crash()
	crashed := time.Now()
	lease, end := s.lock("B", s.Client(url))
	waited := time.Since(crashed)
	end()
	s.Must(lease.Release(s.Context()))
	s.Number(waitedAfter, waited.Seconds(), "s")
	s.Result(waited > time.Minute, "the next had it %.1f s after the crash, with a lease of %v", waited.Seconds(),
		shortTTL)
}

// shortTTL is for leases that are to end in an experiment.
const shortTTL = 2 * time.Second
