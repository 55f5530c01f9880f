package zklock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// refusals are errors of the server after which nothing was changed and asking again does not help, with what to do.
var refusals = []struct {
	err    error
	advice string
}{
	{zk.ErrNoAuth, "give the URL the user that the nodes belong to, or change their ACL"},
	{zk.ErrAuthFailed, "check the user and the password"},
	{zk.ErrInvalidACL, "check the ACL, and that a user is given if it needs one"},
	{zk.ErrBadArguments, "report this: the server does not take the path or the data"},
	{zk.ErrInvalidPath, "report this: the server does not take the path"},
	{zk.ErrNoChildrenForEphemerals, "another program uses this path; use another prefix"},
	{errQuota, "the quota of the prefix, the chroot or a node above is used up; " +
		"raise it with setquota, or use another prefix"},
}

var (
	errQuota         = errors.New("zk: quota exceeded")
	errUnimplemented = errors.New("zk: the server is too old for this request")
)

// unnamed are errors of the server for which the library has no names: it gives them these texts.
var unnamed = map[string]error{
	"unknown error: -6":   errUnimplemented,
	"unknown error: -125": errQuota,
}

// explain tells refusals from errors after which the outcome is unknown.
func (s *session) explain(err error) error {
	if err == nil {
		return nil
	}
	if named := unnamed[err.Error()]; named != nil {
		err = named
	}
	if errors.Is(err, zk.ErrSessionExpired) {
		s.lose(errExpired)
		return s.lossError()
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return fmt.Errorf("%w: %w; %s", driver.ErrRefused, err, r.advice)
		}
	}
	return err
}

func isNoNode(err error) bool { return errors.Is(err, zk.ErrNoNode) }

func isGone(err error) bool { return errors.Is(err, driver.ErrGone) }

func isRefused(err error) bool { return errors.Is(err, driver.ErrRefused) }

// pause waits between two attempts.
func pause(ctx context.Context) error { return driver.Pause(ctx, 100*time.Millisecond) }
