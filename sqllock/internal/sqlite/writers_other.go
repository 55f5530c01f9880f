//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import "context"

// A writerQueue lets the processes that write a database go one after the other. Here there is none: they try again
// until they succeed.
type writerQueue struct{}

func openWriterQueue(*database) (*writerQueue, error) { return &writerQueue{}, nil }

func (*writerQueue) enter(context.Context) error { return nil }
func (*writerQueue) leave()                      {}
func (*writerQueue) close() error                { return nil }
