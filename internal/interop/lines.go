package interop

import (
	"bytes"
	"strings"
	"sync"
)

// lines keep what is written until it is taken, line by line.
type lines struct {
	more chan struct{} // has room for one, sent when there is more

	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default: // it is about to be taken anyway
	}
	return l.text.Write(b)
}

// count returns how many lines were not taken yet.
func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.text.Bytes(), []byte("\n"))
}

// take takes a line, if there is a whole one.
func (l *lines) take() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := bytes.IndexByte(l.text.Bytes(), '\n')
	if end < 0 {
		return "", false
	}
	return strings.TrimSpace(string(l.text.Next(end + 1))), true
}

// rest takes all lines.
func (l *lines) rest() (all []string) {
	for line, ok := l.take(); ok; line, ok = l.take() {
		all = append(all, line)
	}
	return all
}
