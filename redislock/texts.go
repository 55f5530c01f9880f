package redislock

import (
	"context"
	"sync"
	"sync/atomic"
)

// texts has a driver send the text of a script once, where many requests learn at about the same time that the server
// does not know it, as after a restart. Texts have tens of kilobytes.
type texts struct {
	answered atomic.Int64 // how many requests that carried a text were answered

	mu      sync.Mutex
	carried map[string]chan struct{} // by text: closed when the request that carries it is answered
}

// run runs a script on the keys of a lock: by its hash, and with its text if the server does not know it.
func (t *texts) run(ctx context.Context, s *script, conn Conn, keys, args []string) ([]string, error) {
	before := t.answered.Load()
	cmd := Command{Head: s.head, Keys: keys, Tail: args}
	values, err := conn.Do(ctx, cmd)
	if !isNoScript(err) {
		return values, explain(err)
	}
	if done := t.carry(ctx, s.text, before); done != nil {
		defer done()
	} else if ctx.Err() == nil {
		values, err = conn.Do(ctx, cmd)
	}
	switch {
	case !isNoScript(err):
		return values, explain(err)
	case ctx.Err() != nil:
		return nil, unsent(ctx.Err())
	}
	cmd.Head = s.full
	values, err = conn.Do(ctx, cmd)
	return values, explain(err)
}

// carry returns what the caller calls once it has sent the text and has an answer. It returns nil if another request
// has carried the text since so many were answered; where one does so now, it waits for that, while ctx allows.
func (t *texts) carry(ctx context.Context, text string, before int64) (done func()) {
	t.mu.Lock()
	underway := t.carried[text]
	if underway == nil && t.answered.Load() == before {
		underway = make(chan struct{})
		if t.carried == nil {
			t.carried = make(map[string]chan struct{})
		}
		t.carried[text] = underway
		t.mu.Unlock()
		return func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.carried, text)
			t.answered.Add(1)
			close(underway)
		}
	}
	t.mu.Unlock()
	if underway != nil {
		select {
		case <-underway:
		case <-ctx.Done():
		}
	}
	return nil
}
