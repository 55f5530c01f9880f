// Package cases holds what is measured, each case in its own file. A case measures one contender once; repeating it,
// and taking the contenders in turns, is the caller's part.
package cases

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// A Case is one way to use locks, and what is measured about it.
type Case struct {
	Name     string
	Waits    bool // only for contenders that wait for a lock that is taken
	Size     bool // it looks at what the server has stored
	Measures []Measure
	Run      func(ctx context.Context, e *engine.Engine, c contender.Contender) (Sample, error)
}

// A Measure is a quantity that a case finds.
type Measure struct {
	Key   string `json:"key"`   // for programs
	Title string `json:"title"` // for people
	Unit  string `json:"unit"`
	More  bool   `json:"more,omitempty"` // more is better
}

// Speed reports whether a measure says how fast the clients usually were: a time or a rate, rather than what it cost,
// or how slow one in a hundred was.
func (m Measure) Speed() bool {
	return m.More || (m.Unit == "µs" || m.Unit == "ms" || m.Unit == "s") && !strings.HasSuffix(m.Key, cycleP99)
}

// A Sample is what one run found, by the key of the measure.
type Sample map[string]float64

// names makes every run use a lock of its own, so that nothing is left over from another.
var names atomic.Int64

func freshNames(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = freshName()
	}
	return list
}

func freshName() string { return "bench-" + strconv.FormatInt(names.Add(1), 10) }

// withClient runs fn with a client of the contender.
func withClient(ctx context.Context, c contender.Contender, addr string, fn func(contender.Client) error) error {
	client, err := c.Open(ctx, addr)
	if err != nil {
		return err
	}
	return errors.Join(fn(client), client.Close())
}

// oneClient returns a run that measures one client of the contender.
func oneClient(measure func(context.Context, *engine.Engine, contender.Client) (Sample, error),
) func(context.Context, *engine.Engine, contender.Contender) (Sample, error) {
	return func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
		err = withClient(ctx, c, e.Addr, func(client contender.Client) error {
			sample, err = measure(ctx, e, client)
			return err
		})
		return sample, err
	}
}

// counted runs fn with the address of a proxy that counts what the contender's clients send.
func counted(e *engine.Engine, c contender.Contender, fn func(*wire.Counter) error) error {
	counter, err := wire.Listen(e.Addr, c.Protocol)
	if err != nil {
		return err
	}
	return errors.Join(fn(counter), counter.Close())
}

// serverTime returns how much processor time the server used while fn ran, in microseconds; NaN where nobody knows.
func serverTime(e *engine.Engine, fn func() error) (float64, error) {
	before, known := e.CPU()
	err := fn()
	after, _ := e.CPU()
	if !known {
		return math.NaN(), err
	}
	return microseconds(after - before), err
}

// cycle takes the lock and gives it back.
func cycle(ctx context.Context, client contender.Client, name string) error {
	held, err := client.Lock(ctx, name)
	if err != nil {
		return err
	}
	return held.Unlock(ctx)
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
