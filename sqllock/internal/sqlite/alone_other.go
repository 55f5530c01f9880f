//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
)

// canWake says whether clients can wake each other, and see whether they live.
const canWake = false

// A client is a driver as others see it: here it is only a name. Its claims end with their TTL.
type client struct{ id string }

func newClient(func(id string)) *client { return &client{id: rand.Text()} }

func (c *client) join(*folder) error       { return nil }
func (c *client) files() []*os.File        { return nil }
func (c *client) isAlive(string) bool      { return true }
func (c *client) wake(other, claim string) {}
func (c *client) watch(string)             {}
func (c *client) leave(bool)               {}

// A folder is where clients keep their FIFOs: here they have none.
type folder struct{}

type share struct{}

func shareOf(fs.FileInfo) share { return share{} }

func openFolder(string, share) (*folder, error) { return &folder{}, nil }
func makeFolder(string, share) (*folder, error) { return &folder{}, nil }

func (*folder) clients() []string { return nil }
func (*folder) remove(string)     {}
func (*folder) inUse(string) bool { return false }
func (*folder) close() error      { return nil }

func isSingle(fs.FileInfo) bool { return true }

// Turns let the processes that use a database go one after the other. Here there are none: they try again until they
// succeed.
type turns struct{}

func turnsIn(*folder) *turns { return nil }

func (*turns) enter(context.Context) error { return nil }
func (*turns) leave()                      {}
