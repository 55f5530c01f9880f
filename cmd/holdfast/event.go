package main

import (
	"cmp"
	"time"
)

// An event is something that happened to run, or why a verb failed, as --json tells it: one object on a line of
// standard error, because standard output belongs to the command.
type event struct {
	Event   string   `json:"event"` // waiting, acquired, revoked, lost, exit, warning, error or trace
	Time    string   `json:"time"`
	Name    string   `json:"name,omitempty"`
	Owner   string   `json:"owner,omitempty"`   // acquired: as others see us
	Token   string   `json:"token,omitempty"`   // acquired, revoked, lost: the fencing token, in decimal
	Waited  *float64 `json:"waited,omitempty"`  // acquired: seconds
	Place   int      `json:"place,omitempty"`   // waiting: ours in the queue, from 1
	Holders []claim  `json:"holders,omitempty"` // waiting, error: who has the lock
	By      string   `json:"by,omitempty"`      // revoked, lost: who asked for the lock, or broke it, if that is known
	Error   string   `json:"error,omitempty"`   // lost, warning, error
	Code    *int     `json:"code,omitempty"`    // exit, error: the exit code
	Op      string   `json:"op,omitempty"`      // trace: what was asked of the backend
	Claim   string   `json:"claim,omitempty"`   // trace
	Result  string   `json:"result,omitempty"`  // trace: the answer
	Took    *float64 `json:"took,omitempty"`    // trace: seconds
}

// emit tells an event of now, unless it has a time of its own.
func (a *app) emit(e event) {
	if a.json {
		e.Time = cmp.Or(e.Time, timeOf(time.Now()))
		_ = printJSON(a.err, e) // the command runs on although nobody listens
	}
}

func timeOf(at time.Time) string { return at.Format(time.RFC3339Nano) }
