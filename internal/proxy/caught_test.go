package proxy_test

import "testing"

func TestHeldRequestArrivesAfterItsClientLeft(t *testing.T) {
	for name, leave := range map[string]func(*caller){
		"politely": func(c *caller) { c.Close() },
		"abruptly": func(c *caller) { c.SetLinger(0); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			e, p := between(t)
			c, other := dial(t, e, p), dial(t, e, p)
			h := p.HoldNext([]byte("late"))
			c.call("in time")
			c.say("late")
			next(t, h.Caught())
			c.say("behind")
			leave(c)
			other.call("late") // it is not held
			e.got(t, "in time", "late")
			h.Deliver(t)
			e.got(t, "late", "behind")
			next(t, e.ends)
		})
	}
}

func TestHeldRequestIsAnswered(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	h := p.HoldNext([]byte("late"))
	c.say("late")
	next(t, h.Caught())
	c.hearsNothing()
	h.Deliver(t)
	if got, err := c.hear(long); got != "late" || err != nil {
		t.Errorf("heard %q, %v", got, err)
	}
	c.call("after")
}

func TestCopiedRequestArrivesAgain(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	again := p.CopyNext([]byte("twice"))
	c.call("once")
	c.call("twice")
	next(t, again.Caught())
	c.call("between")
	again.Deliver(t)
	e.got(t, "once", "twice", "between", "twice")
	c.hearsNothing() // the answer to the copy is not its business
}
