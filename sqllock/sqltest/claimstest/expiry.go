package claimstest

import (
	"fmt"
	"testing"
	"time"
)

// Who asks for a lock whose holder's time is over is granted it by that request: nobody has to sweep before.
func testExpired(t *testing.T, s Store) {
	holder, other := s.client(t), s.client(t)
	dead := request(t, holder, mutex(t.Name()), true)
	request(t, other, tryOnly(mutex(t.Name())), false)
	change(t, s.admin(t), fmt.Sprintf("UPDATE holdfast_claims SET deadline = 1 WHERE name = '%s'", dead.Name))
	next := request(t, other, tryOnly(mutex(t.Name())), true)
	if next.Token <= dead.Token {
		t.Errorf("token %d after %d", next.Token, dead.Token)
	}
	release(t, other, next)
}

// An end that is noted because a TTL became shorter stays for as long as a late copy of a request with the longest may
// come, also when the TTL becomes shorter once more.
func testShorterAndShorter(t *testing.T, s Store) {
	d, db := s.client(t), s.admin(t)
	c := mutex(t.Name())
	for _, ttl := range []time.Duration{2 * time.Hour, time.Hour, time.Minute} {
		c.TTL = ttl
		c = request(t, d, c, true)
	}
	noted := time.UnixMicro(number(t, db, "SELECT deadline FROM holdfast_ends WHERE id = '"+c.ID+"'"))
	if left := time.Until(noted); left < 2*time.Hour {
		t.Errorf("a request with a TTL of two hours may come for so long, and the note stays for %v", left)
	}
	release(t, d, c)
}
