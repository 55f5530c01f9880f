package redislock

import (
	"errors"
	"fmt"
	"strconv"
)

// confirming is the command that counts the replicas that have what was written before it. WAIT does not wait inside a
// script, so it follows the scripts on their connection.
func (o Options) confirming() Command {
	within := strconv.FormatInt(o.ReplicasWithin.Milliseconds(), 10)
	return Command{Head: []string{"WAIT", strconv.Itoa(o.Replicas), within}}
}

// short is the error for a WAIT with this reply if too few replicas have the write, or nil.
func (o Options) short(wait Reply) error {
	have, err := 0, wait.Err
	if err == nil && len(wait.Values) == 1 {
		have, err = strconv.Atoi(wait.Values[0])
	}
	if have >= o.Replicas {
		return nil
	}
	return errors.Join(fmt.Errorf("redis: %d of the %d replicas that must have the claim confirmed it; "+
		"check the replicas and their links", have, o.Replicas), err)
}
