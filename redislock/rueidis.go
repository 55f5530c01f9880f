package redislock

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// rueidisConn is a Conn on a rueidis client, which batches the commands of many goroutines by itself.
type rueidisConn struct {
	client rueidis.Client
	flows  *flows // its connections, if this package opened them
	owned  bool
	name   string
}

// poolSize is how many connections a client has for what cannot be batched: subscriptions, and what waits for
// replicas.
const poolSize = 16

func (c rueidisConn) Name() string { return c.name }

func (c rueidisConn) Cluster() bool { return c.client.Mode() == rueidis.ClientModeCluster }

func (c rueidisConn) command(cmd Command) rueidis.Completed {
	return c.client.B().Arbitrary(cmd.Head...).Keys(cmd.Keys...).Args(cmd.Tail...).Build()
}

func (c rueidisConn) Do(ctx context.Context, cmd Command) ([]string, error) {
	began := time.Since(started)
	reply, err := within(ctx, c.flows, func() rueidis.RedisResult { return c.client.Do(ctx, c.command(cmd)) })
	if err != nil {
		c.flows.answered(ctx, began, false)
		return nil, err
	}
	values, err := rueidisValues(reply)
	c.flows.answered(ctx, began, isReply(err))
	return values, err
}

func (c rueidisConn) DoMany(ctx context.Context, cmds []Command) []Reply {
	began := time.Since(started)
	results, err := within(ctx, c.flows, func() []rueidis.RedisResult {
		return c.client.DoMulti(ctx, c.commands(cmds)...)
	})
	if err != nil {
		c.flows.answered(ctx, began, false)
		return failed(cmds, err)
	}
	replies := rueidisReplies(results)
	c.flows.answered(ctx, began, areReplies(replies))
	return replies
}

// isReply reports whether the server answered, perhaps with an error.
func isReply(err error) bool {
	_, refused := errors.AsType[ReplyError](err)
	return err == nil || refused
}

// areReplies reports whether the server answered to all commands.
func areReplies(replies []Reply) bool {
	return !slices.ContainsFunc(replies, func(r Reply) bool { return !isReply(r.Err) })
}

func (c rueidisConn) commands(cmds []Command) []rueidis.Completed {
	built := make([]rueidis.Completed, len(cmds))
	for i, cmd := range cmds {
		built[i] = c.command(cmd)
	}
	return built
}

func (c rueidisConn) DoTogether(ctx context.Context, cmds []Command) []Reply {
	conn, release, err := c.dedicate(ctx)
	if err != nil {
		return failed(cmds, unsent(err))
	}
	results, err := within(ctx, c.flows, func() []rueidis.RedisResult {
		return conn.DoMulti(ctx, c.commands(cmds)...)
	})
	replies := rueidisReplies(results)
	if err != nil {
		replies = failed(cmds, err)
	}
	if areReplies(replies) {
		release()
	} else {
		go discard(conn, release)
	}
	return replies
}

// dedicate takes a connection for one caller, while ctx allows: there may be none left, or the server may not answer on
// a new one.
func (c rueidisConn) dedicate(ctx context.Context) (rueidis.DedicatedClient, func(), error) {
	type dedicated struct {
		conn    rueidis.DedicatedClient
		release func()
	}
	taken := make(chan dedicated)
	go func() {
		conn, release := c.client.Dedicate()
		select {
		case taken <- dedicated{conn, release}:
		case <-ctx.Done():
			release()
		}
	}()
	select {
	case d := <-taken:
		return d.conn, d.release, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// discard closes a dedicated connection, instead of giving it back with answers under way. Callers do not wait for it:
// the client waits for these answers first.
func discard(conn rueidis.DedicatedClient, release func()) {
	conn.Close()
	release()
}

// Primaries asks each server what it is. One that does not answer may be left out if a primary calls it a replica.
func (c rueidisConn) Primaries(ctx context.Context) ([]Conn, error) {
	if !c.Cluster() {
		return []Conn{c}, nil
	}
	var primaries []Conn
	silent := make(map[string]error)
	for name, node := range c.client.Nodes() {
		role, err := apartArray(ctx, node, node.B().Role().Build())
		if err != nil {
			silent[name] = rueidisError(err)
			continue
		}
		if is, _ := role[0].ToString(); is == primaryRole {
			primaries = append(primaries, rueidisConn{client: node, flows: c.flows, name: name})
		}
	}
	if len(silent) > 0 && len(primaries) > 0 {
		replicas := primaries[0].(rueidisConn).replicas(ctx)
		maps.DeleteFunc(silent, func(name string, _ error) bool { return slices.Contains(replicas, name) })
	}
	return primaries, errors.Join(slices.Collect(maps.Values(silent))...)
}

// apartArray asks one server for something that is seldom needed.
func apartArray(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) ([]rueidis.RedisMessage, error) {
	reply, err := apart(ctx, func() rueidis.RedisResult { return c.Do(ctx, cmd) })
	if err != nil {
		return nil, err
	}
	return reply.ToArray()
}

// replicas returns the addresses of the cluster's replicas, as far as this server tells them.
func (c rueidisConn) replicas(ctx context.Context) (addrs []string) {
	shards, _ := apartArray(ctx, c.client, c.client.B().ClusterShards().Build())
	for _, shard := range shards {
		fields, _ := shard.AsMap()
		nodes := fields["nodes"]
		members, _ := nodes.ToArray()
		for _, m := range members {
			about, _ := m.AsMap()
			text := func(field string) string {
				values, _ := messageValues(about[field])
				return strings.Join(values, "")
			}
			if text("role") != "replica" {
				continue
			}
			for _, port := range []string{text("port"), text("tls-port")} {
				addrs = append(addrs, net.JoinHostPort(text("endpoint"), port))
			}
		}
	}
	return addrs
}

// primaryRole is what ROLE says of a server that takes writes.
const primaryRole = "master"

func (c rueidisConn) Scan(ctx context.Context, cursor, match string, count int) (string, []string, error) {
	from, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return "", nil, err
	}
	scan := c.client.B().Scan().Cursor(from).Match(match).Count(int64(count)).Build()
	reply, err := within(ctx, c.flows, func() rueidis.RedisResult { return c.client.Do(ctx, scan) })
	if err != nil {
		return "", nil, err
	}
	page, err := reply.AsScanEntry()
	if err != nil {
		return "", nil, rueidisError(err)
	}
	return strconv.FormatUint(page.Cursor, 10), page.Elements, nil
}

func (c rueidisConn) Listen(ctx context.Context, channel string, listening func(), heard func(string)) error {
	conn, release, err := c.dedicate(ctx)
	if err != nil {
		return err
	}
	defer func() { go discard(conn, release) }() // it does not go back into the pool, subscribed
	broken := conn.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(m rueidis.PubSubMessage) { heard(m.Message) },
		OnSubscription: func(s rueidis.PubSubSubscription) {
			if s.Kind == "subscribe" {
				listening()
			}
		},
	})
	asked, err := apart(ctx, func() error {
		return conn.Do(ctx, conn.B().Subscribe().Channel(channel).Build()).Error()
	})
	if err = cmp.Or(err, rueidisError(asked)); err != nil {
		return err
	}
	select {
	case err := <-broken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the connections that the client has opened itself. The client waits for answers that are under way; it
// is cut off if they do not come soon. A connection that it was just making would outlive it.
func (c rueidisConn) Close() error {
	if c.owned {
		defer time.AfterFunc(closeWithin, c.flows.cut).Stop()
		c.client.Close()
		c.flows.cut()
	}
	return nil
}

func (c rueidisConn) cut() {
	if c.owned {
		c.flows.cut()
	}
}

// closeAll ends a driver's waits, and closes its connections. A subscription may wait for a connection that is being
// made to a server that says nothing, so connections are cut off if that takes long.
func closeAll(n *listener, conn Conn) error {
	inner := conn
	if s, ok := conn.(steady); ok {
		inner = s.Conn
	}
	if c, ok := inner.(interface{ cut() }); ok {
		defer time.AfterFunc(closeWithin, c.cut).Stop()
	}
	n.close()
	return conn.Close()
}

// closeWithin is how long the answers under way may take when a client is closed.
const closeWithin = 100 * time.Millisecond

func rueidisReplies(results []rueidis.RedisResult) []Reply {
	replies := make([]Reply, len(results))
	for i, r := range results {
		replies[i].Values, replies[i].Err = rueidisValues(r)
	}
	return replies
}

func rueidisValues(r rueidis.RedisResult) ([]string, error) {
	m, err := r.ToMessage()
	if rueidis.IsRedisNil(err) {
		return nil, nil
	}
	if err != nil {
		return nil, rueidisError(err)
	}
	return messageValues(m)
}

func messageValues(m rueidis.RedisMessage) ([]string, error) {
	if m.IsArray() {
		return m.AsStrSlice()
	}
	if m.IsMap() {
		return pairs(m)
	}
	if m.IsInt64() {
		n, err := m.AsInt64()
		return []string{strconv.FormatInt(n, 10)}, err
	}
	s, err := m.ToString()
	return []string{s}, err
}

func pairs(m rueidis.RedisMessage) ([]string, error) {
	fields, err := m.AsStrMap()
	var all []string
	for field, value := range fields {
		all = append(all, field, value)
	}
	return all, err
}

func rueidisError(err error) error {
	if reply, ok := rueidis.IsRedisErr(err); ok {
		return ReplyError(reply.Error())
	}
	return err
}

// failed returns the same error for each of some commands.
func failed(cmds []Command, err error) []Reply {
	replies := make([]Reply, len(cmds))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}
