package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// A view is the queue of a lock as it is shown.
type view struct {
	Name    string        `json:"name"`
	Holders []claim       `json:"holders"`
	Waiters []claim       `json:"waiters"`          // next one first
	Broken  []brokenClaim `json:"broken,omitempty"` // not in the queue any more
	Error   string        `json:"error,omitempty"`  // why the lock cannot be read, in a list of several
}

// A claim is an entry of a queue as it is shown.
type claim struct {
	ID        string    `json:"claim"`
	Owner     string    `json:"owner"` // "host:pid label"
	Host      string    `json:"host,omitempty"`
	PID       int       `json:"pid,omitempty"`
	Label     string    `json:"label,omitempty"`
	Value     string    `json:"value,omitempty"`      // what a candidate stands for
	Asks      string    `json:"asks"`                 // "all", "shared" or "1 of 3"
	Since     time.Time `json:"since,omitzero"`       // when it was queued, by the backend's clock, if it knows
	ExpiresIn float64   `json:"expires_in"`           // seconds, unless it is renewed
	Token     string    `json:"token,omitempty"`      // the fencing token, in decimal
	RevokedBy string    `json:"revoked_by,omitempty"` // who has asked for it
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

func viewOf(name string, queue []holdfast.Entry) view {
	v := view{Name: name, Holders: []claim{}, Waiters: []claim{}}
	for _, e := range queue {
		if e.Granted {
			v.Holders = append(v.Holders, claimOf(e))
		} else {
			v.Waiters = append(v.Waiters, claimOf(e))
		}
	}
	return v
}

func claimOf(e holdfast.Entry) claim {
	c := claim{ID: e.ID, Owner: e.Owner, Value: e.Value, Asks: asks(e.Claim), Since: e.Since,
		ExpiresIn: e.Left.Seconds()}
	c.Host, c.PID, c.Label = splitOwner(e.Owner)
	if e.Token != 0 {
		c.Token = decimal(e.Token)
	}
	return c
}

// splitOwner takes "host:pid label" apart. What has another form was written by others, and is a label.
func splitOwner(owner string) (host string, pid int, label string) {
	process, label, _ := strings.Cut(owner, " ")
	colon := strings.LastIndexByte(process, ':')
	if colon < 0 {
		return "", 0, owner
	}
	pid, err := strconv.Atoi(process[colon+1:])
	if err != nil {
		return "", 0, owner
	}
	return process[:colon], pid, label
}

// asks tells how much of the lock a claim is for.
func asks(c driver.Claim) string {
	switch {
	case c.Weight == c.Limit:
		return "all"
	case c.Limit == driver.All:
		return "shared"
	default:
		return fmt.Sprintf("%d of %d", c.Weight, c.Limit)
	}
}

// heldBy tells in a few words who has the lock, and for how long.
func (v view) heldBy() string {
	if len(v.Holders) == 0 && len(v.Waiters) == 0 {
		return "was taken a moment ago"
	}
	if len(v.Holders) == 0 {
		return "goes to " + v.Waiters[0].who()
	}
	first := v.Holders[0]
	s := "is held by " + first.who()
	if !first.Since.IsZero() {
		s += fmt.Sprintf(" since %s (for %s)", clock(first.Since), first.age())
	}
	if others := len(v.Holders) - 1; others > 0 {
		s += fmt.Sprintf(" and %d more", others)
	}
	return s
}

func (c claim) who() string {
	switch {
	case c.Owner == "":
		return "claim " + printable(c.ID)
	case c.isForeign():
		return printable(c.Owner + hint(c.Value))
	default:
		return printable(c.Owner)
	}
}

// isForeign reports whether another library's client has the lock. Its value is what unlocks it there.
func (c claim) isForeign() bool { return c.ID != "" && c.ID == foreignID && c.Value != "" }

// foreignID is the ID of such a claim, where the build has an engine that shares locks with other libraries.
var foreignID string

// hint tells a secret from others, and shows a quarter of it at most. Only JSON has it whole.
func hint(secret string) string {
	const most = 6
	runes := []rune(secret)
	return fmt.Sprintf(", whose value begins %q", string(runes[:min(most, len(runes)/4)])+"…")
}

// age shows how long the claim has been in the queue, waiting and granted, if that is known. The backend's clock and
// ours may differ.
func (c claim) age() string {
	if c.Since.IsZero() {
		return dash("")
	}
	return max(time.Since(c.Since), 0).Truncate(time.Second).String()
}

// clock shows a point in time, if it is known: without the day if that is today.
func clock(t time.Time) string {
	if t.IsZero() {
		return dash("")
	}
	t = t.Local()
	if t.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// expiry shows how long a claim lives unless it is renewed.
func (c claim) expiry() string {
	return time.Duration(c.ExpiresIn * float64(time.Second)).Truncate(100 * time.Millisecond).String()
}
