package zklock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// makeContainer makes a node that goes by itself some time after its last child has gone. Where the server says that it
// does not know of such nodes, as ZooKeeper before 3.5.3, it makes one that stays.
func (s *session) makeContainer(ctx context.Context, node string) error {
	_, err := s.createContainer(ctx, node)
	switch {
	case errors.Is(err, errUnimplemented):
		_, err = call(ctx, s, func(c *zk.Conn) (string, error) {
			return c.Create(node, nil, zk.FlagPersistent, s.d.acl)
		})
		return err
	case errors.Is(err, zk.ErrBadArguments):
		return &driver.ServerError{Effect: driver.Refused, Words: wordsOf(err), Advice: noContainers, Err: err}
	default:
		return err
	}
}

// createContainer asks for a container until there is an answer, or what passes for one: see hangUps.
func (s *session) createContainer(ctx context.Context, node string) (string, error) {
	return ask(ctx, s, func(c *zk.Conn) (string, error) {
		connection := s.link.dialled()
		made, err := c.CreateContainer(node, nil, zk.FlagContainer, s.d.acl)
		return made, s.d.hangUps.judge(connection, err)
	})
}

const noContainers = "the server makes no container nodes, which queues are, as older versions of ClickHouse Keeper; " +
	"use ZooKeeper 3.5.3 or newer"

// mostHangUps is how many times in a row a server may hang up when it is asked for a container: more is its way to say
// that it does not know the request.
const mostHangUps = 3

// hangUps counts connections that were broken, one after the other, when a container was asked for.
type hangUps struct {
	mu    sync.Mutex
	count int
	last  net.Conn // the one that was counted last
}

// judge counts what came of a request on a connection, and takes too many that were broken for a refusal. An answer
// ends the count.
func (h *hangUps) judge(on net.Conn, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !errors.Is(err, zk.ErrConnectionClosed) {
		h.count, h.last = 0, nil
		return err
	}
	if on != h.last {
		h.count, h.last = h.count+1, on
	}
	if h.count < mostHangUps {
		return err
	}
	return fmt.Errorf("%w: %s: it hung up %d times in a row", driver.ErrRefused, noContainers, h.count)
}
