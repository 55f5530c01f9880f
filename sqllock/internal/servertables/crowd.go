package servertables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A client sleeps in the server for a few locks at a time, because each takes a connection: a sleeper. The claims that
// wait for other locks are its crowd. One statement asks about which of them there may be news, and only those are
// looked at.
const (
	crowdPause = 20 * time.Millisecond  // between two such questions
	crowdLast  = 250 * time.Millisecond // the same where they take long
	crowdShare = 10                     // a question may take one part in so many of the time
	crowdRound = time.Second            // after which all are looked at, whatever the question missed
	crowdMost  = 256                    // claims in one statement
)

// attend gives a lock that is awaited now a sleeper, or adds it to the crowd. The notifier is locked.
func (d *Driver) attend(l *awaited) {
	n := &d.notifier
	if n.sleepers < d.sleepers && !time.Now().Before(n.noSleepers) {
		n.sleepers++
		l.hasSleeper = true
		n.ended.Go(func() { d.follow(l) })
		return
	}
	if !n.crowd {
		n.crowd = true
		n.ended.Go(d.watchCrowd)
	}
}

// oneSleeperMore counts one, if there may be so many.
func (n *notifier) oneSleeperMore(most int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sleepers >= most {
		return false
	}
	n.sleepers++
	return true
}

func (n *notifier) oneSleeperLess() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sleepers--
}

// toCrowd moves an awaited lock to the crowd, because there is no connection for it.
func (d *Driver) toCrowd(l *awaited) {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	l.hasSleeper, l.on = false, nil
	n.sleepers--
	n.noSleepers = time.Now().Add(pauseAfterFailure)
	d.attend(l)
}

// nextOfCrowd gives a sleeper that has become free to a lock of the crowd; nil, and the end of the sleeper, when there
// is none.
func (n *notifier) nextOfCrowd(open context.Context) *awaited {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.awaited {
		if !l.hasSleeper && open.Err() == nil {
			l.hasSleeper = true
			return l
		}
	}
	n.sleepers--
	return nil
}

// watchCrowd ends with the pool, or when there is no crowd.
func (d *Driver) watchCrowd() {
	looked, pause := time.Now(), crowdPause
	for {
		crowd := d.crowd()
		if crowd == nil {
			return
		}
		driver.Sleep(d.requests.open, pause)
		began := time.Now()
		all := began.Sub(looked) > crowdRound
		for some := range slices.Chunk(crowd, crowdMost) {
			d.lookAt(some, all)
		}
		if all {
			looked = time.Now()
		}
		pause = min(max(crowdPause, crowdShare*time.Since(began)), crowdLast)
	}
}

// crowd returns the claims for locks that have no sleeper. If one has become free, one of these locks gets it.
func (d *Driver) crowd() (crowd []*subscription) {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, l := range n.awaited {
		if l.hasSleeper {
			continue
		}
		waiting := l.wanted()
		switch {
		case waiting == nil:
			delete(n.awaited, name)
		case n.sleepers < d.sleepers:
			d.attend(l)
		}
		crowd = append(crowd, waiting...)
	}
	if d.requests.open.Err() != nil {
		crowd = nil
	}
	n.crowd = crowd != nil
	return crowd
}

// wanted returns the claims that somebody waits for.
func (l *awaited) wanted() (waiting []*subscription) {
	for _, p := range l.waiting {
		if p.waiters > 0 {
			waiting = append(waiting, p)
		}
	}
	return waiting
}

// lookAt passes on what there is to say about claims of the crowd: about all, or about those of which there may be
// news. After an error the next one does.
func (d *Driver) lookAt(some []*subscription, all bool) {
	if !all {
		some = d.withNews(some)
	}
	if len(some) == 0 {
		return
	}
	claims := make([]driver.Claim, len(some))
	for i, p := range some {
		claims[i] = p.claim
	}
	answers, err := d.inspect(claims)
	if err != nil {
		return
	}
	for i, a := range answers {
		d.report(some[i], a)
		if l, held := d.requests.wakeLane(claims[i]); held && l.wakeLocks.isStale(claims[i].ID, a) {
			d.repair(l, &repairs{over: claims[i : i+1], answers: answers[i : i+1]})
		}
	}
}

// withNews asks of which claims there may be news.
func (d *Driver) withNews(some []*subscription) []*subscription {
	pairs := make([][2]string, len(some))
	for i, p := range some {
		pairs[i] = [2]string{hex.EncodeToString([]byte(p.claim.Name)), p.claim.ID}
	}
	text, _ := json.Marshal(pairs) // of strings
	ask := func(ctx context.Context, l *lane) (news []*subscription, err error) {
		err = l.conn.rows(ctx, readNews, []any{string(text)}, func(scan func(...any) error) error {
			var place int
			err := scan(&place)
			if err == nil && place > 0 && place <= len(some) {
				news = append(news, some[place-1])
			}
			return err
		})
		return news, err
	}
	ctx, done := d.inPassing()
	defer done()
	news, err := run(ctx, d.requests, affinity{}, ask)
	if err != nil {
		return nil
	}
	return news
}
