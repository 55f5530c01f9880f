package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A outcome is how a routine answers about a claim.
type outcome int

const (
	isThere    outcome = iota      // its state follows
	isGone                         // it is not in its queue, or under another token
	notQueued                      // it was not granted and did not want to wait
	askAgain           = notQueued // from wait: a claim ahead is dead, so a request will find more
	nothing    outcome = 3         // from wait: it waits as before
	isAlone    outcome = 4         // it has its lock to itself: its state follows
	isAloneNow outcome = 5         // the same, and the lock was not one that a statement takes
)

// An answer is what routines return about a claim.
type answer struct {
	outcome outcome
	alone   bool // it is there, and nobody waits for it
	free    bool // its lock was one that a statement takes
	status  driver.Status
}

// ask calls a routine that answers about one claim.
func (c *conn) ask(ctx context.Context, r routine, args ...any) (answer, error) {
	return one(ctx, c, r, readAnswer, args...)
}

func readAnswer(scan func(...any) error) (a answer, err error) {
	var token, ttl, retry int64
	st := &a.status
	err = scan(&a.outcome, &token, &st.Granted, &ttl, &retry, &st.Contended, &st.Revoked)
	st.Token, st.TTL, st.Retry = uint64(token), fromMicros(ttl), fromMicros(retry)
	switch a.outcome {
	case isAlone, isAloneNow:
		a.free = a.outcome == isAlone
		a.outcome, a.alone = isThere, true
	case isGone: // of one that is gone there is no state, whatever the row of its lock says
		a.status = driver.Status{}
	}
	return a, err
}

// err is [driver.ErrGone] where that is the answer.
func (a answer) err() error {
	if a.outcome == isGone {
		return driver.ErrGone
	}
	return nil
}

// micros is a duration as it is stored: never shorter.
func micros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }

// asked is the TTL of a claim as routines take it: negative if it is left alone.
func asked(c driver.Claim) int64 {
	if c.Detached {
		return -micros(c.TTL)
	}
	return micros(c.TTL)
}

func fromMicros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
