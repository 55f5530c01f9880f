package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// An inbox receives the signals that are for the command, or end the wait for the lock.
type inbox struct {
	signals chan os.Signal
}

// catchSignals catches the signals that are passed on, except those that we were started to ignore (nohup, &), so that
// the command ignores them too. Of those Go tells HUP and INT: the others have its handlers from the start, whatever
// they had before. A broken pipe must not end us while the command runs.
func catchSignals() *inbox {
	b := &inbox{signals: make(chan os.Signal, 16)}
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			signal.Notify(b.signals, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return b
}

// An interrupt is a signal that ended the wait.
type interrupt struct{ signal os.Signal }

func (i *interrupt) Error() string { return fmt.Sprintf("signal: %v", i.signal) }

// code is the exit code that tells of the signal.
func (i *interrupt) code() int {
	if n, ok := i.signal.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitFailure
}

// keep puts a signal back, unless so many have come since that it does not matter.
func (b *inbox) keep(s os.Signal) {
	select {
	case b.signals <- s:
	default:
	}
}

// until returns a context that the next signal ends, with an *interrupt as its cause. stop puts an end to that, and
// leaves later signals in the inbox. A signal that came before stop returned is the cause then, unless the context
// had ended before it.
func (b *inbox) until(ctx context.Context) (interruptible context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case s := <-b.signals:
			cancel(&interrupt{s})
			if !isInterrupt(context.Cause(ctx)) { // it came too late to end anything
				b.keep(s)
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

// untilSignal calls what goes on until its context ends, and returns how it ended, or that a signal came.
func untilSignal(ctx context.Context, call func(context.Context) error) error {
	ctx, done := catchSignals().until(ctx)
	defer done()
	_, err := aside(ctx, func() (struct{}, error) { return struct{}{}, call(ctx) })
	if i, ok := errors.AsType[*interrupt](context.Cause(ctx)); ok && (err == nil || isInterrupt(err)) {
		return ended(i.code())
	}
	return err
}

// endLimit is how long a call may take to notice that its context has ended.
const endLimit = time.Second

// aside returns what a call does, or else why its context has ended: who writes what nobody reads, or reads what nobody
// writes, notices nothing, and ends with this process.
func aside[T any](ctx context.Context, call func() (T, error)) (v T, err error) {
	type answer struct {
		v   T
		err error
	}
	answered, late := make(chan answer, 1), make(chan struct{})
	go func() {
		v, err := call()
		answered <- answer{v, err}
	}()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(endLimit, func() { close(late) }) })()
	select {
	case a := <-answered:
		return a.v, a.err
	case <-late:
		return v, context.Cause(ctx)
	}
}
