//go:build !linux

package servers

import (
	"os"
	"testing"
)

func needNamespaces(t testing.TB) {
	Require(t, false, "Linux with network namespaces", "a virtual machine")
}

func namespace(testing.TB) *os.File                        { return nil }
func inside(testing.TB, *os.File, string, ...string)       {}
func (n *Network) publish(testing.TB, string, int, string) {}
