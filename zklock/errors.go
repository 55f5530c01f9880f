package zklock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// explain tells answers of the server from errors after which the outcome is unknown.
func (s *session) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrSessionExpired):
		s.lose(errExpired)
		return s.lossError()
	case errors.Is(err, zk.ErrInvalidPath): // the library's own, before anything is sent
		return fmt.Errorf("%w: %w; report this: the path is not valid", driver.ErrRefused, err)
	}
	if answer := answerIn(err); answer != nil {
		return answer
	}
	return err
}

// wordsOf is what a server said, without advice.
func wordsOf(err error) string {
	answer, ok := errors.AsType[*driver.ServerError](err)
	if !ok {
		return err.Error()
	}
	return answer.Words
}

func isNoNode(err error) bool { return errors.Is(err, zk.ErrNoNode) }

func isGone(err error) bool { return errors.Is(err, driver.ErrGone) }

func isRefused(err error) bool { return errors.Is(err, driver.ErrRefused) }

// pause waits between two attempts.
func pause(ctx context.Context) error { return driver.Pause(ctx, 100*time.Millisecond) }
