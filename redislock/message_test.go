package redislock

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// What a message cannot tell is asked for.
func TestMessages(t *testing.T) {
	granted := driver.Status{Token: 12, Granted: true, TTL: 1500 * time.Millisecond}
	contended, revoked := granted, granted
	contended.Contended, revoked.Revoked = true, true
	for _, c := range []struct {
		kind, rest string
		want       message
	}{
		{claimGranted, "id 12 1500 0", message{status: granted}},
		{claimGranted, "id 12 1500 1", message{status: contended}},
		{claimRevoked, "id 12 1500 0", message{status: revoked}},
		{claimEnded, "id", message{ended: true}},
		{claimGranted, "id", message{ask: true}},
		{claimGranted, "id 12 1500 0 more", message{ask: true}},
		{claimGranted, "id 12 1500", message{ask: true}},
		{claimGranted, "id 12 soon 0", message{ask: true}},
		{claimGranted, "id -1 1500 0", message{ask: true}},
		{"unknown", "id 12 1500 0", message{ask: true}},
	} {
		if id, got := parseMessage(c.kind, c.rest); id != "id" || got != c.want {
			t.Errorf("%s %q: got %q, %+v, want %+v", c.kind, c.rest, id, got, c.want)
		}
	}
}
