package kubelock

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/leaderelection"
)

// Run campaigns like leaderelection.RunOrDie, and gives the lead back only after the work has ended. The work is
// OnStartedLeading, which must not return before all that it has started has stopped.
//
//   - When ctx ends, the context of the work does. The elector renews the lead until the work has returned, and then
//     releases it, so the next leader begins at once and never beside this one.
//   - When the work returns by itself, the lead is released, too.
//   - When the lead is lost, the context of the work ends. Nothing is released, and Run returns after the work.
//
// ReleaseOnCancel of the configuration does not matter. Run works with any lock of client-go. Its error is that of
// leaderelection.NewLeaderElector, about a configuration that is not valid.
func Run(ctx context.Context, config leaderelection.LeaderElectionConfig) error {
	electing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	d := &drain{outer: ctx, stop: stop, work: config.Callbacks.OnStartedLeading}
	if d.work != nil { // otherwise the configuration is not valid
		config.Callbacks.OnStartedLeading = d.lead
	}
	config.ReleaseOnCancel = true
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return err
	}
	if config.WatchDog != nil {
		config.WatchDog.SetLeaderElection(elector)
	}
	defer context.AfterFunc(ctx, d.end)()
	elector.Run(electing)
	d.wait()
	return nil
}

// A drain lets an elector go on until the work has returned.
type drain struct {
	outer context.Context // when it ends, the work should
	stop  context.CancelFunc
	work  func(context.Context)

	mu      sync.Mutex
	ended   bool // no work begins any more
	working sync.WaitGroup
	works   bool
}

// lead does the work of a leader.
func (d *drain) lead(leading context.Context) {
	if !d.begin() {
		return
	}
	defer d.finish()
	inside, cancel := context.WithCancelCause(leading)
	defer cancel(nil)
	defer context.AfterFunc(d.outer, func() { cancel(context.Cause(d.outer)) })()
	d.work(inside)
}

func (d *drain) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	d.works = true
	d.working.Add(1)
	return true
}

// finish has the lead released.
func (d *drain) finish() {
	d.mu.Lock()
	d.works, d.ended = false, true
	d.mu.Unlock()
	d.stop()
	d.working.Done()
}

// end has the campaign end now, unless there is work: then finish does it.
func (d *drain) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.works {
		d.ended = true
		d.stop()
	}
}

// wait returns when the work has, if it has begun at all.
func (d *drain) wait() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.working.Wait()
}
