package goredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/redislock"
)

// New returns a driver on a client that the caller opened, and closes, after the driver: one of a server or of a
// cluster. Nothing is sent yet. Commands of the driver are never repeated by the client, whatever its MaxRetries.
//
// A client that follows sentinels is refused: what a master answers that was replaced would count until the client
// hears of the other one. Open a redis-sentinel: URL instead. So is a Ring.
func New(client redis.UniversalClient, opts *redislock.Options) (*redislock.Driver, error) {
	switch c := client.(type) {
	case nil:
		return nil, errors.New("goredis: the client is nil; open one with redis.NewClient")
	case *redis.Ring:
		return nil, errors.New("goredis: a Ring moves keys to another server when one does not answer, " +
			"which would grant a lock twice; use a cluster, or sentinels")
	case *redis.Client:
		if c.Options().Addr == failoverAddr {
			return nil, errFailover
		}
	case *redis.ClusterClient:
		if c.Options().ClusterSlots != nil {
			return nil, errNoCluster
		}
		return redislock.NewOn(newClusterConn(c), opts)
	}
	return redislock.NewOn(conn{client}, opts)
}

// failoverAddr is what go-redis has in place of an address in the options of a client that follows sentinels.
const failoverAddr = "FailoverClient"

const instead = "; open a URL like redis-sentinel://host1,host2,host3/mymaster, which asks all sentinels, " +
	"and keep this client for other things"

var (
	errFailover = errors.New("goredis: a FailoverClient follows one sentinel, so it trusts a replaced master " +
		"until it hears of the new one, and a lock may be granted twice" + instead)
	errNoCluster = errors.New("goredis: a ClusterClient with ClusterSlots of its own is not connected to a cluster: " +
		"its servers pass no messages on, and if it follows sentinels it trusts a replaced master" + instead)
)

// conn is a redislock.Conn on a go-redis client.
type conn struct{ client redis.UniversalClient }

// Name is unknown: the client may go from server to server.
func (c conn) Name() string { return "" }

func (c conn) Cluster() bool { return false }

// DoTogether is DoMany: one server gets a pipeline over one connection.
func (c conn) DoTogether(ctx context.Context, cmds []redislock.Command) []redislock.Reply {
	return c.DoMany(ctx, cmds)
}

func (c conn) Primaries(context.Context) ([]redislock.Conn, error) { return []redislock.Conn{c}, nil }

// once is a command that the client does not repeat.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

func (o once) Clone() redis.Cmder { return once{o.Cmd.Clone().(*redis.Cmd)} }

func command(ctx context.Context, cmd redislock.Command) once {
	args := make([]any, 0, len(cmd.Head)+len(cmd.Keys)+len(cmd.Tail))
	for _, part := range [][]string{cmd.Head, cmd.Keys, cmd.Tail} {
		for _, arg := range part {
			args = append(args, arg)
		}
	}
	return once{redis.NewCmd(ctx, args...)}
}

// within does something while ctx allows: clients heed only their own timeouts unless their options say otherwise.
// What is given up goes on in the background until one of those ends it.
func within(ctx context.Context, do func() []redislock.Reply) []redislock.Reply {
	if ctx.Done() == nil {
		return do()
	}
	done := make(chan []redislock.Reply, 1)
	go func() { done <- do() }()
	select {
	case replies := <-done:
		return replies
	case <-ctx.Done():
		return nil
	}
}

// each is within for commands, all of which have the error of ctx when it ends.
func each(ctx context.Context, cmds []redislock.Command, do func() []redislock.Reply) []redislock.Reply {
	if replies := within(ctx, do); replies != nil {
		return replies
	}
	return failed(cmds, ctx.Err())
}

func failed(cmds []redislock.Command, err error) []redislock.Reply {
	replies := make([]redislock.Reply, len(cmds))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

func (c conn) Do(ctx context.Context, cmd redislock.Command) ([]string, error) {
	reply := each(ctx, []redislock.Command{cmd}, func() []redislock.Reply {
		values, err := c.do(ctx, cmd)
		return []redislock.Reply{{Values: values, Err: err}}
	})[0]
	return reply.Values, reply.Err
}

func (c conn) do(ctx context.Context, cmd redislock.Command) ([]string, error) {
	sent := command(ctx, cmd)
	switch err := c.client.Process(ctx, sent); {
	case err == redis.Nil:
		return nil, nil
	case err != nil:
		return nil, serverError(err)
	}
	return values(sent.Val())
}

func (c conn) DoMany(ctx context.Context, cmds []redislock.Command) []redislock.Reply {
	return each(ctx, cmds, func() []redislock.Reply { return c.doMany(ctx, cmds) })
}

func (c conn) doMany(ctx context.Context, cmds []redislock.Command) []redislock.Reply {
	sent := make([]once, len(cmds))
	pipe := c.client.Pipeline()
	for i, cmd := range cmds {
		sent[i] = command(ctx, cmd)
		pipe.Process(ctx, sent[i]) // it is queued; each has its own error below
	}
	_, err := pipe.Exec(ctx)
	replies := make([]redislock.Reply, len(cmds))
	for i := range sent {
		replies[i] = reply(sent[i], err)
	}
	return replies
}

// reply reads the answer to one command of a pipeline that ended with pipeErr.
func reply(cmd once, pipeErr error) redislock.Reply {
	switch err := cmd.Err(); {
	case err == redis.Nil:
		return redislock.Reply{}
	case err != nil:
		return redislock.Reply{Err: serverError(err)}
	case cmd.Val() == nil && pipeErr != nil:
		return redislock.Reply{Err: pipeErr}
	}
	v, err := values(cmd.Val())
	return redislock.Reply{Values: v, Err: err}
}

func (c conn) Scan(ctx context.Context, cursor, match string, count int) (string, []string, error) {
	from, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return "", nil, err
	}
	page := within(ctx, func() []redislock.Reply {
		keys, next, err := c.client.Scan(ctx, from, match, int64(count)).Result()
		cursor := redislock.Reply{Values: []string{strconv.FormatUint(next, 10)}}
		return []redislock.Reply{cursor, {Values: keys, Err: serverError(err)}}
	})
	if page == nil {
		return "", nil, ctx.Err()
	}
	return page[0].Values[0], page[1].Values, page[1].Err
}

func (c conn) Listen(ctx context.Context, channel string, listening func(), heard func(string)) error {
	sub := c.client.Subscribe(ctx, channel)
	defer sub.Close()
	defer context.AfterFunc(ctx, func() { sub.Close() })()
	for confirmed := false; ; {
		got, err := receive(ctx, sub)
		if err != nil {
			return errors.Join(ctx.Err(), serverError(err))
		}
		switch m := got.(type) {
		case *redis.Subscription:
			if confirmed {
				return errors.New("goredis: the subscription was interrupted")
			}
			confirmed = true
			listening()
		case *redis.Message:
			heard(m.Payload)
		}
	}
}

// quiet is for how long nothing comes on a subscription before the server is asked whether it is there still, and for
// how long it may take to answer.
const quiet = 2 * time.Second

// receive returns what comes next. A connection may be dead without a word, so one that is quiet is tried.
func receive(ctx context.Context, sub *redis.PubSub) (any, error) {
	for pinged := false; ; pinged = true {
		got, err := sub.ReceiveTimeout(ctx, quiet)
		timeout, ok := errors.AsType[net.Error](err)
		if silent := ok && timeout.Timeout() && ctx.Err() == nil; !silent || pinged {
			return got, err
		}
		if err := sub.Ping(ctx); err != nil {
			return nil, err
		}
	}
}

// Close leaves the client open: it is the caller's.
func (c conn) Close() error { return nil }

// values turns an answer into texts.
func values(answer any) ([]string, error) {
	switch v := answer.(type) {
	case string:
		return []string{v}, nil
	case int64:
		return []string{strconv.FormatInt(v, 10)}, nil
	case []any:
		var all []string
		for _, element := range v {
			one, err := values(element)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	case map[any]any:
		var all []string
		for field, value := range v {
			pair, err := values([]any{field, value})
			if err != nil {
				return nil, err
			}
			all = append(all, pair...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("goredis: an answer of type %T", answer)
}

// serverError tells errors that the server answered from those of the connection.
func serverError(err error) error {
	if answered, ok := errors.AsType[redis.Error](err); ok && err != redis.Nil {
		return redislock.ReplyError(answered.Error())
	}
	return err
}
