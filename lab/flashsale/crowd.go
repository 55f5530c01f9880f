package flashsale

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lab/subprocess"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

// A crowd is all processes of buyers, and how they fared.
type crowd struct {
	processes []*subprocess.Process

	sold      int
	soldBy    []float64 // by each process
	waits     []time.Duration
	took      time.Duration
	requests  int64
	isCounted bool
}

// crowd calls all processes together, and ends them when the sale is over.
func (p Plan) crowd(ctx context.Context, order Order, meter testbed.Meter, progress func(int)) (*crowd, error) {
	c := &crowd{soldBy: make([]float64, p.Processes)}
	err := c.come(p, order)
	if err == nil {
		err = c.run(ctx, p, order, meter, progress)
	}
	return c, errors.Join(err, c.leave())
}

// run sends all buyers at the same time, and waits for the last.
func (c *crowd) run(ctx context.Context, p Plan, order Order, meter testbed.Meter, progress func(int)) error {
	defer context.AfterFunc(ctx, func() { _ = c.leave() })()
	before, _ := meter()
	began := time.Now()
	for _, process := range c.processes {
		if err := process.Send(struct{}{}); err != nil {
			return err
		}
	}
	if err := c.serve(p.Buyers, order, progress); err != nil {
		return errors.Join(err, ctx.Err())
	}
	c.took = time.Since(began)
	c.requests, c.isCounted = meter()
	c.requests -= before
	return nil
}

// come starts the processes, and waits until each is ready.
func (c *crowd) come(p Plan, order Order) error {
	for i := range p.Processes {
		process, err := buyers.Start()
		if err != nil {
			return err
		}
		c.processes = append(c.processes, process)
		order.First, order.Buyers = i*p.Buyers/p.Processes, (i+1)*p.Buyers/p.Processes-i*p.Buyers/p.Processes
		if err := process.Send(order); err != nil {
			return err
		}
	}
	for _, process := range c.processes {
		var ready news
		if err := process.Receive(&ready); err != nil {
			return err
		}
		if ready.Err != "" {
			return fmt.Errorf("a process of buyers cannot start: %s", ready.Err)
		}
	}
	return nil
}

// heard is what a process says, or that it says nothing more.
type heard struct {
	process int
	news    news
	err     error
}

// serve listens to all processes until each buyer was served.
func (c *crowd) serve(buyers int, order Order, progress func(int)) error {
	all := make(chan heard, buyers) // with room for all, so that nobody is left behind in here after an error
	for i, process := range c.processes {
		share := (i+1)*buyers/len(c.processes) - i*buyers/len(c.processes)
		go listen(i, process, share, all)
	}
	for served := 1; served <= buyers; served++ {
		h := <-all
		switch {
		case h.err != nil:
			return h.err
		case h.news.Err != "":
			return fmt.Errorf("a buyer with the lock %s failed: %s", order.Lock, h.news.Err)
		}
		c.note(h)
		progress(served)
	}
	return nil
}

// listen passes on what a process says of each of its buyers.
func listen(i int, process *subprocess.Process, share int, all chan<- heard) {
	for range share {
		h := heard{process: i}
		h.err = process.Receive(&h.news)
		all <- h
		if h.err != nil {
			return
		}
	}
}

func (c *crowd) note(h heard) {
	c.waits = append(c.waits, h.news.Waited)
	if h.news.Sold {
		c.sold++
		c.soldBy[h.process]++
	}
}

// leave ends the processes.
func (c *crowd) leave() (err error) {
	for _, process := range c.processes {
		err = errors.Join(err, process.Stop())
	}
	return err
}

// describe writes down what the crowd went through.
func (c *crowd) describe(r *Result) {
	slices.Sort(c.waits)
	r.Processes = len(c.processes)
	r.Seconds = c.took.Seconds()
	r.WaitP50, r.WaitP99 = c.waited(50), c.waited(99)
	r.Fairness = testbed.Jain(c.soldBy)
	if c.isCounted {
		r.Requests = c.requests
	}
}

// waited returns what so many percent of the buyers waited at most, in milliseconds.
func (c *crowd) waited(percent int) float64 {
	return float64(c.waits[(len(c.waits)-1)*percent/100]) / float64(time.Millisecond)
}
