package leasedtest

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A Lossy driver speaks through a proxy that swallows answers; the other one sees what was applied.
type Lossy struct {
	claimed.Driver
	Other claimed.Driver
	proxy *proxy.Proxy
}

// NewLossy opens both, which have a lease each, and have used the lock job: the first message about another claim on it
// asks for the change itself, and not for what must be there before.
func NewLossy(t testing.TB, e Engine) Lossy {
	t.Helper()
	addr := e.Server(t)
	p := proxy.New(t, addr)
	l := Lossy{e.Open(t, p.Addr), e.Open(t, addr), p}
	for _, d := range []claimed.Driver{l.Driver, l.Other} {
		claimed.Release(t, d, claimed.Acquire(t, d, claimed.Mutex("job", Long)))
	}
	return l
}

// Loses makes a call whose answer is swallowed: that to the first message with these words.
func (l Lossy) Loses(t testing.TB, words string, call func() error) {
	t.Helper()
	l.proxy.DropNextReplyAfter([]byte(words))
	if err := call(); err == nil {
		t.Fatal("the answer arrived")
	}
}
