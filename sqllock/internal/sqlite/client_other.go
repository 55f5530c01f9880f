//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"context"
	"crypto/rand"
	"os"
)

// canWake says whether clients can wake each other, and see whether they live.
const canWake = false

// A client is a driver as others see it: here it is only a name. Its claims end with their TTL.
type client struct{ id string }

func join(*database, func(id string)) (*client, error) { return &client{id: rand.Text()}, nil }

func (c *client) files() []*os.File        { return nil }
func (c *client) isAlive(string) bool      { return true }
func (c *client) wake(other, claim string) {}
func (c *client) others() []string         { return nil }
func (c *client) leave(bool)               {}
func (c *client) removeFiles(string)       {}
func inUse(*database, *client) bool        { return false }

func (c *client) watch(context.Context, []string) <-chan struct{} { return nil }
