package proxy

import (
	"bytes"
	"strconv"
)

// A Counter counts the requests in what one client sends. It is called with each chunk, in order; a request may be cut
// anywhere.
type Counter func(chunk []byte) int

// Count begins to count what clients send, from zero, with a counter for each connection: [RESP], [Bytes] or another. A
// request is counted before the server gets it, and also when a fault takes it. Open connections should be silent now,
// as a request that has begun is not recognized.
func (p *Proxy) Count(of func() Counter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counter, p.counted = of, 0
	for l := range p.links {
		l.counter = of()
	}
}

// Counted returns the count so far.
func (p *Proxy) Counted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counted
}

// Answered returns how many bytes the server has sent since the proxy began, whether they arrived or not.
func (p *Proxy) Answered() int64 { return p.answered.Load() }

// Bytes counts bytes.
func Bytes() Counter { return func(chunk []byte) int { return len(chunk) } }

// RESP counts commands of the Redis protocol, each by the line that begins it:
// redis.io/docs/latest/develop/reference/protocol-spec.
func RESP() Counter { return new(resp).count }

// resp is how far a stream of commands has been read.
type resp struct {
	line []byte // what has come of a line that is not whole
	skip int    // bytes of an argument that are to come, with the end of its line
}

func (r *resp) count(chunk []byte) (commands int) {
	for len(chunk) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(chunk))
			chunk, r.skip = chunk[n:], r.skip-n
			continue
		}
		line, rest, whole := bytes.Cut(chunk, []byte("\n"))
		r.line = append(r.line, line...)
		if !whole {
			return commands
		}
		commands += r.begins(bytes.TrimSuffix(r.line, []byte("\r")))
		chunk, r.line = rest, r.line[:0]
	}
	return commands
}

// begins returns how many commands begin with a line: an array of arguments, or a command in words.
func (r *resp) begins(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	if line[0] == '$' {
		size, err := strconv.Atoi(string(line[1:]))
		if err == nil {
			r.skip = size + len("\r\n")
		}
		return 0
	}
	return 1
}
