package proxy

import "slices"

// A verdict is what becomes of a chunk.
type verdict int

const (
	pass   verdict = iota
	vanish         // and nobody is told
	cut            // and its link with it
	desert         // its client is cut off, and the server is not told
	hold           // until its request is delivered
)

// judge decides about a chunk on its arrival.
func (l *link) judge(w way, chunk []byte) verdict {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if w == toServer {
		return l.judgeRequest(chunk)
	}
	return l.judgeAnswer()
}

func (l *link) judgeRequest(chunk []byte) verdict {
	p := l.proxy
	if l.counter != nil {
		p.counted += l.counter(chunk)
	}
	if l.dead || p.faults.hole[toServer] {
		return vanish
	}
	recent := l.recent
	l.recent = lastOf(slices.Concat(recent, chunk))
	if t, ok := p.faults.sprung(recent, chunk); ok {
		return t.spring(l, chunk)
	}
	return pass
}

func (l *link) judgeAnswer() verdict {
	l.tellAnswered()
	switch {
	case l.answers != pass:
		return l.answers
	case l.dead, l.proxy.faults.hole[toClient]:
		return vanish
	default:
		return pass
	}
}

// tellAnswered tells whoever had a request delivered that the server answers.
func (l *link) tellAnswered() {
	if l.held == nil {
		return
	}
	select {
	case <-l.held.free:
		l.held.tell.Do(func() { close(l.held.answered) })
	default:
	}
}

// lastOf returns as much of the end of a stream as a match may have begun in.
func lastOf(stream []byte) []byte {
	const longest = 512
	return stream[max(0, len(stream)-longest):]
}
