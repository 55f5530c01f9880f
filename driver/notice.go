package driver

import "context"

// A Noticer knows what people should be told once they have opened it, because it explains what they are about to see:
// that no lock can be had for a while, or that an option gives up a promise.
type Noticer interface {
	// Notices returns what is unusual now, or nothing. It does not wait long for engines that do not answer.
	Notices(ctx context.Context) []Finding
}

// Notices returns what [Noticer] says, or nothing if d is no Noticer.
func Notices(ctx context.Context, d Either) []Finding {
	if n, ok := As[Noticer](d); ok {
		return n.Notices(ctx)
	}
	return nil
}
