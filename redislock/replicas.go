package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// A confirmation counts the replicas that have what scripts wrote. WAIT does not wait inside a script, so it follows
// the scripts on their connection.
type confirmation struct {
	pipeliner *pipeliner
	need      int
	have      int
	err       error // why they cannot be counted
}

// confirming is the command that counts replicas.
func (o Options) confirming() Command {
	within := strconv.FormatInt(o.ReplicasWithin.Milliseconds(), 10)
	return Command{Head: []string{"WAIT", strconv.Itoa(o.Replicas), within}}
}

// short is the error for a WAIT with this reply, if it has counted too few replicas.
func (o Options) short(wait Reply) error {
	c := confirmation{need: o.Replicas, have: o.Replicas}
	c.count(wait)
	return c.short()
}

func newConfirmation(p *pipeliner, replicas int) *confirmation {
	return &confirmation{pipeliner: p, need: replicas, have: replicas}
}

// send is a sender. When it is used several times, all that was sent must be confirmed.
func (c *confirmation) send(ctx context.Context, cmds []Command) []Reply {
	replies, last := c.pipeliner.send(ctx, cmds)
	c.count(last)
	return replies
}

// count takes the reply to WAIT.
func (c *confirmation) count(wait Reply) {
	have := 0
	if wait.Err == nil && len(wait.Values) == 1 {
		have, wait.Err = strconv.Atoi(wait.Values[0])
	}
	c.have, c.err = min(c.have, have), errors.Join(c.err, wait.Err)
}

// short is the error for a write that too few replicas have, or nil.
func (c *confirmation) short() error {
	if c.have >= c.need {
		return nil
	}
	return errors.Join(fmt.Errorf("redis: %d of the %d replicas that must have the claim confirmed it; "+
		"check the replicas and their links", c.have, c.need), c.err)
}
