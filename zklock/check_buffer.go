package zklock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// bufferTimes is how many times the room of a session a server should take at once.
const bufferTimes = 2

// checkBuffer looks at how large a request a server takes. It reads no change either that is much larger, and the
// end of a session is a change that names all its nodes. No server tells what its jute.maxbuffer is, so it is
// tried.
func (d *Driver) checkBuffer(ctx context.Context, host string) driver.Finding {
	want := bufferTimes * d.room
	for size := want; size >= leastSessionBytes; size /= 2 {
		switch takes, err := d.takes(ctx, host, size); {
		case err != nil:
			return driver.Finding{Level: driver.Warning,
				Fact:   fmt.Sprintf("how much %s takes at once is not known: %v", host, err),
				Advice: fmt.Sprintf("see that its jute.maxbuffer is %d or more", want)}
		case takes && size == want:
			return driver.Finding{Fact: fmt.Sprintf("%s takes %d bytes at once", host, size)}
		case takes:
			return d.smallBuffer(host, size)
		}
	}
	return d.smallBuffer(host, 0)
}

func (d *Driver) smallBuffer(host string, takes int) driver.Finding {
	f := driver.Finding{
		Level: driver.Warning,
		Fact:  fmt.Sprintf("%s does not take %d bytes at once", host, 2*max(takes, leastSessionBytes/2)),
		Advice: fmt.Sprintf("raise jute.maxbuffer to %d on all servers, or set sessionbytes=%d in the URL everywhere: "+
			"else the end of a client that holds many locks may be a change that no server can read",
			bufferTimes*d.room, max(takes/bufferTimes, leastSessionBytes)),
	}
	if takes < d.room {
		f.Level = driver.Unsafe
	}
	return f
}

// takes reports whether a server answers a request of this size. It is a question for a node that there cannot be. A
// server that hangs up may have other reasons, so a small question must be answered before and after.
func (d *Driver) takes(ctx context.Context, host string, size int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	s, err := d.startAt(ctx, []string{host}, sessionTime(askTTL))
	if err != nil {
		return false, err
	}
	defer s.end()
	const header, small = 32, 64 // and more
	if _, err := s.asksFor(ctx, small); err != nil {
		return false, err
	}
	takes, err := s.asksFor(ctx, size-header)
	if !errors.Is(err, zk.ErrConnectionClosed) {
		return takes, err
	}
	_, err = ask(ctx, s, func(c *zk.Conn) (bool, error) { return exists(c, small) })
	if errors.Is(err, errSessionLost) { // a server that gives no session back has hung up as well
		err = nil
	}
	return false, err
}

// asksFor asks whether there is a node with a name of this size, and reports whether the server answers.
func (s *session) asksFor(ctx context.Context, size int) (answered bool, err error) {
	_, err = call(ctx, s, func(c *zk.Conn) (bool, error) { return exists(c, size) })
	return err == nil, err
}

func exists(c *zk.Conn, size int) (bool, error) {
	there, _, err := c.Exists("/" + strings.Repeat("x", size))
	return there, err
}
