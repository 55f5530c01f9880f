package claimstest

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Who asks for a lock whose holder's time is over is granted it by that request: nobody has to sweep before.
func testExpired(t *testing.T, s Store) {
	holder, other := s.client(t), s.client(t)
	short := mutex(t.Name())
	short.TTL = time.Second
	dead := request(t, holder, short, true)
	request(t, other, tryOnly(mutex(t.Name())), false)
	driver.Sleep(t.Context(), 2*short.TTL)
	next := request(t, other, tryOnly(mutex(t.Name())), true)
	if next.Token <= dead.Token {
		t.Errorf("token %d after %d", next.Token, dead.Token)
	}
	release(t, other, next)
}
