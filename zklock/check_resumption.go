package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// checkResumption looks at whether a server gives a session back whose connection has broken. It breaks the connection
// of a session that has no claims.
func (d *Driver) checkResumption(ctx context.Context, host string) driver.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	switch err := d.resume(ctx, host); {
	case err == nil:
		return driver.Finding{Fact: host + " gives a session back after its connection has broken"}
	case errors.Is(err, errReplaced), errors.Is(err, errExpired):
		return driver.Finding{Level: driver.Warning,
			Fact: host + " gives no session back after its connection has broken",
			Advice: "use ZooKeeper itself, without a proxy in between: here a client loses all its locks with each " +
				"broken connection. It is told at once"}
	default:
		return driver.Finding{Level: driver.Warning,
			Fact: fmt.Sprintf("whether %s gives a session back after its connection has broken is not known: %v",
				host, err),
			Advice: "see that it serves, and try again"}
	}
}

func (d *Driver) resume(ctx context.Context, host string) error {
	s, err := d.startAt(ctx, []string{host}, sessionTime(askTTL))
	if err != nil {
		return err
	}
	defer s.end()
	back := s.nextConnection()
	s.link.breakOff()
	select {
	case <-back:
		_, err = s.exists(ctx, "/")
		if isRefused(err) {
			return nil
		}
		return err
	case <-s.lost:
		return s.lossError()
	case <-ctx.Done():
		return s.link.absence(ctx.Err())
	}
}
