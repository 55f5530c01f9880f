package claimstest

import (
	"fmt"
	"testing"
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
