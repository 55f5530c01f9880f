//go:build !linux

package child

import "context"

// ReapOrphans does nothing: only Linux has containers whose first process is this one.
func ReapOrphans(context.Context) {}
