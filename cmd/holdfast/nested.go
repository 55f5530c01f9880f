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

// isNested reports whether the plan would wait for a lock that a holdfast around this one holds for as long as this one
// runs: for ever. The environment may be that of a command that outlived its lock, so the queue must say so too.
func (p *plan) isNested(ctx context.Context, s *store) bool {
	marks := strings.Fields(os.Getenv(heldEnv))
	if !hasName(marks, p.name) {
		return false
	}
	queue, err := s.Queue(ctx, p.name)
	if err != nil {
		return false // who cannot tell the queue, or does not answer, is waited for like any other
	}
	for _, e := range queue {
		if e.Granted && slices.Contains(marks, heldMark(p.name, decimal(e.Token))) && p.excludes(e.Claim) {
			return true
		}
	}
	return false
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

// excludes reports whether the lock cannot be had beside a claim, however many others have it.
func (p *plan) excludes(held driver.Claim) bool {
	return held.Weight == held.Limit || p.limit() == 1
}
