//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"context"
	"os"
)

// canRing says whether clients can tell each other something, and whether they live.
const canRing = false

// A client is a driver as others see it: here it is only a name. Its claims end with their TTL.
type client struct{ id string }

func join(*place, func(id string)) (*client, error) { return &client{id: newID()}, nil }

func (c *client) files() []*os.File     { return nil }
func (c *client) sees(string) bool      { return true }
func (c *client) ring(other, id string) {}
func (c *client) others() []string      { return nil }
func (c *client) leave(bool)            {}
func (c *client) bury(string)           {}
func inUse(*place, *client) bool        { return false }

func (c *client) watch(context.Context, []string) <-chan struct{} { return nil }
