package holdfast

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// events carry what happens to locks by itself to the observer and the logger, one after the other in a goroutine that is
// there while there is something to tell. The handlers of others may take any time: nothing waits for them. Nor does their
// panic end anything.
type events struct {
	mu     sync.Mutex
	queue  []event
	missed int  // dropped since the last one that was queued
	busy   bool // the goroutine is there
}

// An event is what to call, with how many were dropped just before it, and what to do when that panics.
type event struct {
	tell   func(missed int)
	missed int
	failed func(*crash)
}

// mostEvents bounds how many wait for a handler that is slow.
const mostEvents = 4096

func (es *events) add(tell func(missed int), failed func(*crash)) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if len(es.queue) == mostEvents {
		es.missed++
		return
	}
	es.queue = append(es.queue, event{tell, es.missed, failed})
	es.missed = 0
	if !es.busy {
		es.busy = true
		go es.deliver()
	}
}

func (es *events) deliver() {
	for e, ok := es.next(); ok; e, ok = es.next() {
		if caught := catch(func() { e.tell(e.missed) }); caught != nil {
			e.failed(caught)
		}
	}
}

func (es *events) next() (e event, ok bool) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if len(es.queue) == 0 {
		es.busy, es.queue = false, nil
		return e, false
	}
	e, es.queue = es.queue[0], es.queue[1:]
	return e, true
}

// warn has the logger told, with the time of now.
func (c *Client) warn(logger *slog.Logger, message string, attrs ...any) {
	if logger == silent {
		return
	}
	r := slog.NewRecord(time.Now(), slog.LevelWarn, message, 0)
	r.Add(attrs...)
	c.events.add(func(missed int) {
		if missed > 0 {
			r.Add("missed", missed)
		}
		if ctx := context.Background(); logger.Enabled(ctx, r.Level) {
			logger.Handler().Handle(ctx, r) // whose errors concern the handler alone
		}
	}, cry)
}
