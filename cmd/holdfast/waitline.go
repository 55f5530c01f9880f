package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// Pace of the line that shows the wait. A lock that comes at once shows none.
const (
	firstLook = 200 * time.Millisecond
	nextLook  = time.Second
)

// showWait shows on a terminal, until it is stopped, who has the lock and what our place in the queue is. With --json
// it tells so once; elsewhere it is silent, and so it is with --trace: its questions are not those that matter then.
func (a *app) showWait(ctx context.Context, s *store, p *plan) (stop func()) {
	line := &waitLine{app: a, store: s, plan: p}
	if p.noWait || p.quiet || a.backend.trace || !a.json && !isTerminal(a.err) {
		return func() {}
	}
	return during(ctx, func(ctx context.Context) {
		line.follow(ctx)
		line.clear()
	})
}

// longWait is how long a command may wait without a word. A job that is started every day and waits for ever would
// otherwise never be missed.
const longWait = time.Minute

// tellLongWait tells once, when a wait without an end has lasted for longWait, who has the lock, or that nobody
// answers. On a terminal the line that shows the wait does so. A candidate waits for as long as others lead.
func (a *app) tellLongWait(ctx context.Context, s *store, p *plan) (stop func()) {
	if p.noWait || p.wait > 0 || p.quiet || p.campaign || !a.json && isTerminal(a.err) {
		return func() {}
	}
	return during(ctx, func(ctx context.Context) {
		if driver.Sleep(ctx, longWait) != nil {
			return
		}
		_, says, err := s.whoHas(ctx, p.name)
		if errors.Is(err, holdfast.ErrUnavailable) {
			says = err.Error()
		}
		if ctx.Err() == nil {
			a.warn(fmt.Errorf("%s; still waiting after %v", says, longWait))
		}
	})
}

// during calls what goes on beside a wait. stop ends that.
func during(ctx context.Context, show func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		show(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-over:
		case <-time.After(clearLimit): // whoever has stopped the terminal does not keep the lock from those who wait
		}
	}
}

// clearLimit is how long a terminal may take to show no more of the wait.
const clearLimit = 300 * time.Millisecond

// A waitLine is the line of a terminal that shows the wait.
type waitLine struct {
	*app
	store *store
	plan  *plan
	drawn bool
}

// follow redraws the line until ctx ends.
func (l *waitLine) follow(ctx context.Context) {
	for pause := firstLook; driver.Sleep(ctx, pause) == nil; pause = nextLook {
		queue, err := l.store.Queue(ctx, l.plan.name)
		if err != nil {
			l.drawTrouble(ctx, err)
			continue
		}
		v := viewOf(l.plan.name, queue)
		place := v.place(l.plan.owner())
		if place == 0 {
			continue
		}
		if l.json {
			l.emit(event{Event: "waiting", Name: v.Name, Place: place, Holders: v.Holders})
			return
		}
		l.draw(fmt.Sprintf("waiting: %s %s; %s", printable(v.Name), v.heldBy(), inLine(place)))
	}
}

// drawTrouble shows that the queue cannot be seen, unless the backend shows it to nobody.
func (l *waitLine) drawTrouble(ctx context.Context, err error) {
	if !l.json && ctx.Err() == nil && !errors.Is(err, errors.ErrUnsupported) {
		l.draw(printable(oneLine(fmt.Sprintf("waiting: %v", err))))
	}
}

// place is the place of an owner among those who wait, from 1; zero when it does not wait.
func (v view) place(owner string) int {
	return 1 + slices.IndexFunc(v.Waiters, func(c claim) bool { return c.Owner == owner })
}

func inLine(place int) string {
	if place == 1 {
		return "we are next"
	}
	return fmt.Sprintf("we are number %d in the queue", place)
}

// clearLine moves to the start of the line and clears it.
const clearLine = "\r\x1b[K"

func (l *waitLine) draw(text string) {
	if width, _, err := term.GetSize(int(l.err.Fd())); err == nil && width > 1 {
		text = truncate(text, width-1)
	}
	io.WriteString(l.err, clearLine+text) // it is only for show
	l.drawn = true
}

func (l *waitLine) clear() {
	if l.drawn {
		io.WriteString(l.err, clearLine) // it is only for show
	}
}

// truncate cuts s to so many columns, so that it fits a line.
func truncate(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	taken := 0
	cut := strings.IndexFunc(s, func(r rune) bool {
		taken += columnsOf(r)
		return taken > most-1
	})
	return strings.TrimRight(s[:cut], " ") + "…"
}
