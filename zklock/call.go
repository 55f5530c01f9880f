package zklock

import (
	"context"
	"errors"
	"net"
	"path"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// call makes a request and waits for its answer, or until ctx ends: then the request may still be applied. So it may
// have been where its connection broke, unless the server on that one serves the client nothing.
func call[T any](ctx context.Context, s *session, request func(*zk.Conn) (T, error)) (T, error) {
	var on net.Conn
	v, err := callOnce(ctx, s, func(c *zk.Conn) (T, error) {
		on = s.link.dialled()
		return request(c)
	})
	if !errors.Is(err, zk.ErrConnectionClosed) {
		return v, err
	}
	switch refusal := s.link.refusedNow(); {
	case refusal == nil:
		return v, err
	case s.link.isRefusedOn(on):
		return v, refusal
	default:
		return v, undecided(refusal)
	}
}

// callOnce is call with the library's error where the connection broke.
func callOnce[T any](ctx context.Context, s *session, request func(*zk.Conn) (T, error)) (v T, err error) {
	if err := s.connected(ctx); err != nil {
		return v, err
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	s.d.running.Go(func() { // ends with the connection at the latest
		v, err := request(s.conn)
		answers <- answer{v, err}
	})
	select {
	case a := <-answers:
		return a.v, s.explain(a.err)
	case <-s.lost:
		return v, s.lossError()
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// connected waits until the session has a connection. The library would keep whatever is asked before, a goroutine for
// each attempt, and send all of it then.
func (s *session) connected(ctx context.Context) error {
	for {
		back := s.nextConnection() // before the look
		if !s.isAway() {
			return nil
		}
		select {
		case <-back:
		case <-s.lost:
			return s.lossError()
		case <-ctx.Done():
			return s.link.absence(ctx.Err())
		}
	}
}

// ask is call for what may be asked again: when the connection breaks, it is, on the next one.
func ask[T any](ctx context.Context, s *session, request func(*zk.Conn) (T, error)) (T, error) {
	for {
		back := s.nextConnection() // before the call, during which the connection may break and come back
		v, err := callOnce(ctx, s, request)
		if !errors.Is(err, zk.ErrConnectionClosed) {
			return v, err
		}
		if refusal := s.link.refusedNow(); refusal != nil {
			return v, refusal // which a server sent before it hung up
		}
		select {
		case <-back:
		case <-s.lost:
			return v, s.lossError()
		case <-ctx.Done():
			return v, s.link.absence(err)
		}
	}
}

// together makes requests that do not wait for each other's answers, and returns their errors.
func together(requests ...func() error) error {
	errs := make([]error, len(requests))
	var wg sync.WaitGroup
	for i, request := range requests {
		wg.Go(func() { errs[i] = request() })
	}
	wg.Wait()
	return distinct(errs)
}

// distinct joins errors, each text once: what keeps one request from being answered often keeps all.
func distinct(errs []error) error {
	said := make(map[string]bool)
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		if err == nil || said[err.Error()] {
			return true
		}
		said[err.Error()] = true
		return false
	})...)
}

// atOnce bounds the requests under way for one question about many nodes.
const atOnce = 64

// forEach calls f for 0 to n-1, some at a time.
func forEach(n int, f func(i int)) {
	var wg sync.WaitGroup
	for first := range min(atOnce, n) {
		wg.Go(func() {
			for i := first; i < n; i += atOnce {
				f(i)
			}
		})
	}
	wg.Wait()
}

// A content is what a node holds.
type content struct {
	data []byte
	stat *zk.Stat
}

func (s *session) get(ctx context.Context, path string) (content, error) {
	return ask(ctx, s, func(c *zk.Conn) (content, error) {
		data, stat, err := c.Get(path)
		return content{data, stat}, err
	})
}

// getIfThere is get, with a content without a stat when there is no such node.
func (s *session) getIfThere(ctx context.Context, path string) (content, error) {
	c, err := s.get(ctx, path)
	if isNoNode(err) {
		return content{}, nil
	}
	return c, err
}

// children are the names of a node's children; none when there is no such node.
func (s *session) children(ctx context.Context, path string) ([]string, error) {
	names, err := ask(ctx, s, func(c *zk.Conn) ([]string, error) {
		names, _, err := c.Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// sync makes what is read in this session afterwards at least as new as now.
func (s *session) sync(ctx context.Context) error {
	_, err := ask(ctx, s, func(c *zk.Conn) (string, error) { return c.Sync(s.d.keys.top()) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// multi makes all of these changes or none. failed is the index of the first that is in the way, or -1.
func (s *session) multi(ctx context.Context, ops ...any) (results []zk.MultiResponse, failed int, err error) {
	s.use()
	results, err = call(ctx, s, func(c *zk.Conn) ([]zk.MultiResponse, error) { return c.Multi(ops...) })
	if err == nil {
		return results, -1, nil
	}
	for i, r := range results {
		if r.Error != nil {
			return nil, i, err
		}
	}
	return nil, -1, err
}

// makeParent makes a node to have children, which ZooKeeper removes some time after the last of them is gone.
func (s *session) makeParent(ctx context.Context, node string) error {
	switch {
	case node == "/":
		return nil
	case s.d.keys.isShared(node):
		return s.makeShared(ctx, node)
	}
	for {
		err := s.makeContainer(ctx, node)
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			return nil
		case !errors.Is(err, zk.ErrNoNode):
			return err
		}
		if err := s.makeParent(ctx, path.Dir(node)); err != nil {
			return err
		}
	}
}
