package memlock

import "github.com/holdfast-go/holdfast/driver"

func (l *lock) request(c driver.Claim) (driver.Status, error) {
	place, ok := l.find(c)
	switch {
	case ok:
		return l.renew(place, c), nil
	case c.Token != 0, l.barred(c.ID):
		return driver.Status{}, driver.ErrGone
	case !c.Queue && !driver.Granted(append(l.queue, c), c.ID):
		return driver.Status{}, nil
	default:
		return l.enqueue(c), nil
	}
}

func (l *lock) barred(id string) bool {
	_, ended := l.recall(id)
	return ended
}

// renew keeps token, place, weight and limit as they are, and all of a claim that was left alone since c was sent.
func (l *lock) renew(place int, c driver.Claim) driver.Status {
	queued := &l.queue[place]
	if queued.Detached && !c.Detached {
		st := l.status(place)
		st.TTL = l.records[c.ID].expires.Sub(l.now)
		return st
	}
	queued.TTL, queued.Detached = c.TTL, c.Detached
	l.live(queued)
	return l.status(place)
}

// live lets a queued claim live for its TTL from now on.
func (l *lock) live(c *driver.Claim) {
	expires := l.now.Add(c.TTL)
	r := l.records[c.ID]
	r.expires, r.longest = expires, max(r.longest, c.TTL)
	l.soonest = earlier(l.soonest, expires)
}

func (l *lock) enqueue(c driver.Claim) driver.Status {
	c.Token = l.nextToken()
	l.records[c.ID] = l.newRecord()
	l.queue = append(l.queue, c)
	l.live(&c)
	l.grant()
	l.watchers.changed(l.name)
	return l.status(len(l.queue) - 1)
}
