package model_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// The tokens of locks on Redis. They come from the server's clock, TIME, which may be set back, and from one number for
// all locks of a prefix, the watermark: locks leave nothing behind when they are free. Written a while ahead of the
// clock, it is written seldom.
//
// Modelled: one lock that is granted again and again; a clock that goes on, and is set back twice, to any time; a
// server that restarts, once, without what was written since the last time that it wrote to its disk. Two grants of
// one lock have different times unless the clock is set: two scripts do not run in one microsecond. Left out: who has
// the lock, for tokens grow whoever does.
func TestLastTokenInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules tokenRules
		wrong string
	}{
		{name: "each grant writes its token", rules: tokenRules{mark: everyGrant}},
		{name: "the watermark is ahead, and the clock is not set back", rules: tokenRules{mark: ahead, steady: true}},
		{
			name:  "each grant writes its token, the server forgets, and its clock is right",
			rules: tokenRules{mark: everyGrant, restarts: true, steady: true},
		},

		{"the clock alone", tokenRules{mark: never}, staleToken},
		{"as sketched: the clock, while it is below a watermark that is ahead", tokenRules{mark: ahead}, staleToken},
		{"as sketched: one more than the watermark, which stays", tokenRules{mark: aheadAndAbove}, staleToken},
		{
			"each grant writes its token, the server forgets, and its clock was set back",
			tokenRules{mark: everyGrant, restarts: true}, staleToken,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[tokenState]{Start: tokenState{clock: 1}, Next: row.rules.next, Wrong: tokenWrong}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const staleToken = "a token is not greater than one before"

type tokenRules struct {
	mark     mark
	steady   bool // the clock is not set back
	restarts bool // without what it wrote last
}

// mark is when the watermark is written, and what that means for the token.
type mark int

const (
	// everyGrant writes the token: the greater of the clock and one more than the token before.
	everyGrant mark = iota
	never
	// ahead raises the watermark to a while after the clock when that has reached it. Below it the clock is the token.
	ahead
	// aheadAndAbove does so too, and the token is one more than the watermark when the clock is not above that.
	aheadAndAbove
)

const (
	tokenTimes  = 6
	tokenAhead  = 3
	tokenGrants = 3
	tokenSets   = 2
)

type tokenState struct {
	clock   uint8
	mark    uint8
	written uint8 // the watermark on disk
	most    uint8 // the greatest token that was given
	grants  uint8
	granted bool // in this microsecond
	sets    uint8
	lost    bool
	wrong   bool
}

func tokenWrong(s tokenState) string {
	if s.wrong {
		return staleToken
	}
	return ""
}

func (r tokenRules) next(s tokenState, step func(tokenState, string)) {
	if s.clock < tokenTimes {
		next := s
		next.clock++
		next.granted = false
		step(next, "time passes")
	}
	if !r.steady && s.sets < tokenSets {
		for to := uint8(1); to < s.clock; to++ {
			next := s
			next.clock, next.granted = to, false
			next.sets++
			step(next, "the clock is set back")
		}
	}
	if s.written != s.mark {
		next := s
		next.written = s.mark
		step(next, "the watermark gets to the disk")
	}
	if r.restarts && !s.lost {
		next := s
		next.mark, next.lost = s.written, true
		step(next, "the server restarts with what is on its disk")
	}
	if s.grants < tokenGrants && !s.granted {
		step(r.grant(s), "the lock is granted")
	}
}

// grant gives out a token.
func (r tokenRules) grant(s tokenState) tokenState {
	token := s.clock
	switch r.mark {
	case everyGrant:
		token = max(s.clock, s.mark+1)
		s.mark = token
	case ahead:
		if s.clock >= s.mark {
			s.mark = s.clock + tokenAhead
		}
	case aheadAndAbove:
		token = max(s.clock, s.mark+1)
		if s.clock >= s.mark {
			s.mark = s.clock + tokenAhead
		}
	}
	s.wrong = token <= s.most
	s.most = max(s.most, token)
	s.grants++
	s.granted = true
	return s
}
