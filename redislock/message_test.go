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
		want       driver.Event
	}{
		{claimGranted, "id 12 1500 0", driver.Event{Status: granted}},
		{claimGranted, "id 12 1500 1", driver.Event{Status: contended}},
		{claimRevoked, "id 12 1500 0", driver.Event{Status: revoked}},
		{claimEnded, "id", driver.Event{Err: driver.ErrGone}},
		{claimGranted, "id", driver.Event{}},
		{claimGranted, "id 12 1500 0 more", driver.Event{}},
		{claimGranted, "id 12 1500", driver.Event{}},
		{claimGranted, "id 12 soon 0", driver.Event{}},
		{claimGranted, "id -1 1500 0", driver.Event{}},
		{"unknown", "id 12 1500 0", driver.Event{}},
	} {
		id, st, err := parseMessage(c.kind, c.rest)
		if id != "id" || st != c.want.Status || err != c.want.Err {
			t.Errorf("%s %q: got %q, %+v, %v, want %+v", c.kind, c.rest, id, st, err, c.want)
		}
	}
}
