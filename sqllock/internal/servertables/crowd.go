package servertables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A client sleeps in the server for a few locks at a time: each takes a connection, a seat. The claims that wait for other locks
// are its crowd. One statement asks of which of them there may be news, and only those are looked at.
const (
	crowdPause = 20 * time.Millisecond  // between two such questions
	crowdLast  = 250 * time.Millisecond // the same where they take long
	crowdShare = 10                     // a question may take one part in so many of the time
	crowdRound = time.Second            // after which all are looked at, whatever the question missed
	crowdMost  = 256                    // claims in one statement
)

// sit lets a line that was just made have a seat, or be of the crowd. The posts are locked.
func (d *Driver) sit(l *line) {
	ps := &d.posts
	if ps.seats < d.seats && !time.Now().Before(ps.noSeats) {
		ps.seats++
		l.seated = true
		ps.ended.Go(func() { d.follow(l) })
		return
	}
	if !ps.crowd {
		ps.crowd = true
		ps.ended.Go(d.watchCrowd)
	}
}

// stand lets a line be of the crowd, since there is no connection for it.
func (d *Driver) stand(l *line) {
	ps := &d.posts
	ps.mu.Lock()
	defer ps.mu.Unlock()
	l.seated, l.on = false, nil
	ps.seats--
	ps.noSeats = time.Now().Add(restAfterFailure)
	d.sit(l)
}

// nextLine gives a seat that has become free to a line of the crowd; nil, and the end of the seat, when there is none.
func (ps *posts) nextLine(open context.Context) *line {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, l := range ps.lines {
		if !l.seated && open.Err() == nil {
			l.seated = true
			return l
		}
	}
	ps.seats--
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

// crowd returns the claims of lines that have no seat. Where one has become free, a line gets it.
func (d *Driver) crowd() (crowd []*post) {
	ps := &d.posts
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for name, l := range ps.lines {
		if l.seated {
			continue
		}
		waiting := l.awaited()
		switch {
		case waiting == nil:
			delete(ps.lines, name)
		case ps.seats < d.seats:
			d.sit(l)
		}
		crowd = append(crowd, waiting...)
	}
	if d.requests.open.Err() != nil {
		crowd = nil
	}
	ps.crowd = crowd != nil
	return crowd
}

// awaited returns the claims of a line that somebody waits for.
func (l *line) awaited() (waiting []*post) {
	for _, p := range l.waiting {
		if p.waiters > 0 {
			waiting = append(waiting, p)
		}
	}
	return waiting
}

// lookAt passes on what there is to say about claims of the crowd: about all, or about those of which there may be news. After
// an error the next one does.
func (d *Driver) lookAt(some []*post, all bool) {
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
	answers, err := d.inquire(d.requests.open, d.requests, spot{}, claims, false)
	if err != nil {
		return
	}
	for i, a := range answers {
		d.report(some[i], a)
		if l, hangs := d.requests.bellLane(claims[i]); hangs && l.bells.isWrong(claims[i].ID, a) {
			d.mend(l, &mending{over: claims[i : i+1], answers: answers[i : i+1]})
		}
	}
}

// withNews asks of which claims there may be news.
func (d *Driver) withNews(some []*post) []*post {
	pairs := make([][2]string, len(some))
	for i, p := range some {
		pairs[i] = [2]string{hex.EncodeToString([]byte(p.claim.Name)), p.claim.ID}
	}
	text, _ := json.Marshal(pairs) // of strings
	news, err := run(d.requests.open, d.requests, spot{}, func(ctx context.Context, l *lane) (news []*post, err error) {
		err = l.conn.rows(ctx, readNews, []any{string(text)}, func(scan func(...any) error) error {
			var place int
			err := scan(&place)
			if err == nil && place > 0 && place <= len(some) {
				news = append(news, some[place-1])
			}
			return err
		})
		return news, err
	})
	if err != nil {
		return nil
	}
	return news
}
