// Package engine starts the servers that locks are measured on, each kind in its own file, and says what they cost.
package engine

import (
	"context"
	"time"
)

// An Engine is a server that runs for the measurement alone.
type Engine interface {
	Addr() string
	Version() string
	// CPU returns the processor time that the server has used so far, in user and system mode.
	CPU(ctx context.Context) (time.Duration, error)
	Close() error
}
