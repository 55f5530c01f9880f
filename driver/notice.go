package driver

import "context"

// A Noticer knows what people should be told when they have opened it, because it explains what they are about to
// see: that no lock can be had for a while, or that a promise was given up by an option.
type Noticer interface {
	// Notices returns what is so now; nothing when all is as ever. Engines that do not answer are not waited for long.
	Notices(ctx context.Context) []Finding
}

// Notices returns what is to be told as [Noticer] says; nothing where d is no Noticer.
func Notices(ctx context.Context, d Driver) []Finding {
	if n, ok := As[Noticer](d); ok {
		return n.Notices(ctx)
	}
	return nil
}
