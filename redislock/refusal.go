package redislock

import (
	"bytes"
	"time"
)

// A refusal is what a server says on a connection that it does not serve: one error, after which it closes the
// connection, perhaps before it has read anything. Redis does so when it has too many clients, and in protected mode. A
// client library that waits for answers to several requests then reports the end of the connection alone.
type refusal struct {
	said []byte // all that has come so far
	over bool   // more has come than a refusal
}

// longestRefusal is how many bytes a refusal has at most.
const longestRefusal = 1 << 10

// hearOutFor bounds how long a refusal is waited for that must have come already.
const hearOutFor = 100 * time.Millisecond

// hear notes what has come.
func (r *refusal) hear(p []byte) {
	if r.over || len(p) == 0 {
		return
	}
	r.said = append(r.said, p...)
	if r.over = r.said[0] != '-' || len(r.said) > longestRefusal; r.over {
		r.said = nil
	}
}

// reply returns the error that was all the server said, or "".
func (r *refusal) reply() ReplyError {
	line, ended := bytes.CutSuffix(r.said, []byte("\r\n"))
	if !ended || bytes.Contains(line, []byte("\r\n")) {
		return ""
	}
	return ReplyError(bytes.TrimPrefix(line[1:], []byte("ERR ")))
}
