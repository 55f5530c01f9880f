package server

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// UntilChanged blocks until the digest of a queue, which it asks for now and then, is another one than at first. It
// calls begun once it knows the first.
func UntilChanged(ctx context.Context, pause time.Duration, begun func(), digest func() ([3]int64, error)) error {
	first, err := digest()
	if err == nil {
		begun()
	}
	for now := first; err == nil && now == first; {
		if err = driver.Sleep(ctx, pause); err == nil {
			now, err = digest()
		}
	}
	return err
}
