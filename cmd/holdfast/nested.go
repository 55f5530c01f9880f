package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// heldEnv is the environment variable that tells a command which locks are held around it: "NAME:TOKEN" for each, the
// outermost first, with NAME in base64.
const heldEnv = "HOLDFAST_HELD"

// around is what the command gets in heldEnv: what we got, and its own lock.
func around(name string, token uint64) string {
	return strings.TrimSpace(os.Getenv(heldEnv) + " " + heldMark(name, decimal(token)))
}

func heldMark(name, token string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(name)) + ":" + token
}

// isNested reports whether the plan would wait for a lock that those around this one hold for as long as this one runs:
// for ever. That is so where it has no room beside them, however many others hold the lock, or if somebody has none who
// waits already, and is not overtaken. The environment may be that of a command that outlived its lock, so the queue
// must say so too.
func (p *plan) isNested(ctx context.Context, s *store) bool {
	marks := strings.Fields(os.Getenv(heldEnv))
	if !hasName(marks, p.name) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	queue, err := s.Queue(ctx, p.name)
	if err != nil {
		return false // who cannot tell the queue, or does not answer, is waited for like any other
	}
	var around, ahead []driver.Claim
	for _, e := range queue {
		switch {
		case !e.Granted:
			ahead = append(ahead, e.Claim)
		case slices.Contains(marks, heldMark(p.name, decimal(e.Token))):
			around = append(around, e.Claim)
		}
	}
	return len(around) > 0 && slices.ContainsFunc(append(ahead, p.claim()), func(c driver.Claim) bool {
		return !driver.Granted(append(slices.Clip(around), c), c.ID)
	})
}

func hasName(marks []string, name string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(mark, heldMark(name, "")) })
}

// nested is the error for such a lock.
func (p *plan) nested() error {
	return &exit{code: p.conflict, err: fmt.Errorf(
		"%s is held by the holdfast that runs this command, which waits for it to end; leave out one of the two, or "+
			"give it another name", printable(p.name))}
}
