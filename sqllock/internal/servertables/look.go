package servertables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Claims for which nobody sleeps in the server are looked at together, in short statements: soon after news, later the
// longer there are none, and never late while one of them is the next in line. Where there are many, one statement
// tells of which there may be news, and only these are looked at.
const (
	firstLook = 10 * time.Millisecond
	nextLook  = 50 * time.Millisecond // at most, while one is the next in line
	lastLook  = 250 * time.Millisecond
	openLook  = openTime    // after which a claim is looked at whose sleeper has no connection yet
	lookShare = 10          // looking may take one part in so many of the time, unless a pause is lastLook
	lookRound = time.Second // after which all are looked at, and held claims too
	lookMost  = 256         // claims in one statement, and held claims in a round: of more, some are drawn
	lookFew   = 16          // so many are looked at without asking for news
)

// look looks at claims as long as there are some. It ends with the driver.
func (d *Driver) look() {
	pause, least, round := lastLook, firstLook, time.Now()
	for {
		if d.following.rest(d.requests.open, pause, least) {
			pause = least
		}
		began := time.Now()
		all := began.Sub(round) > lookRound
		awake, last := d.awake(all)
		if last == 0 {
			return
		}
		for some := range slices.Chunk(awake, lookMost) {
			d.lookAt(some, all)
		}
		if all {
			round = time.Now()
		}
		least = min(max(firstLook, lookShare*time.Since(began)), lastLook)
		pause = max(min(pause*5/4, last), least)
	}
}

// rest pauses, and where there is news, which it reports, for no longer than the least pause from then on.
func (f *following) rest(open context.Context, pause, least time.Duration) (news bool) {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-open.Done():
	case <-f.hurry:
		driver.Sleep(open, least)
		return true
	}
	return false
}

// awake returns the claims that are to be looked at, those that wait or all, and the longest pause after that, which is
// 0 if there is nothing to look at any more. Where there may be more sleepers, claims get them.
func (d *Driver) awake(all bool) (some []*followed, last time.Duration) {
	f := &d.following
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks = len(f.waiting)+len(f.held) > 0 && d.requests.open.Err() == nil
	if !f.looks {
		return nil, 0
	}
	last = lastLook
	for _, list := range f.waiting {
		if first := list[0]; first.asleep || time.Since(first.attended) < openLook {
			continue
		}
		d.attend(list[0])
		for _, p := range list {
			if some = append(some, p); p.next {
				last = nextLook
			}
		}
	}
	if all {
		some = append(some, f.someHeld()...)
	}
	return some, last
}

func (f *following) someHeld() (held []*followed) {
	for _, list := range f.held {
		if held = append(held, list...); len(held) >= lookMost {
			break
		}
	}
	return held
}

// lookAt tells what there is to tell of some claims. After an error the next look does.
func (d *Driver) lookAt(some []*followed, all bool) {
	if !all && len(some) > lookFew {
		some = d.withNews(some)
	}
	claims := make([]driver.Claim, len(some))
	for i, p := range some {
		claims[i] = p.claim
	}
	if len(claims) == 0 {
		return
	}
	ctx, done := d.inPassing()
	answers, err := d.inquire(ctx, d.requests, claims, false)
	if done(); err != nil {
		return
	}
	for i, a := range answers {
		d.report(some[i], a)
	}
}

// report tells what the server has answered about a claim, and does about its wake locks what follows from that.
func (d *Driver) report(p *followed, a answer) {
	d.following.learn(p, a)
	d.settle(p.claim, a)
}

// withNews returns the claims of which there may be news. After an error there are none.
func (d *Driver) withNews(some []*followed) (news []*followed) {
	pairs := make([][2]string, len(some))
	for i, p := range some {
		pairs[i] = [2]string{hex.EncodeToString([]byte(p.claim.Name)), p.claim.ID}
	}
	text, _ := json.Marshal(pairs) // of strings
	ctx, done := d.inPassing()
	defer done()
	places, _ := run(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) ([]int, error) {
		return all(ctx, l.conn, "news", column[int], string(text))
	})
	for _, place := range places {
		if place > 0 && place <= len(some) {
			news = append(news, some[place-1])
		}
	}
	return news
}
