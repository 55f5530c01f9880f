package main

import (
	"context"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// hang is what the opening of "hangs:" waits for, whatever becomes of its context.
var hang chan struct{}

func init() {
	driver.Register("hangs", func(context.Context, *url.URL) (driver.Driver, error) {
		<-hang
		return nil, context.Canceled
	})
}

// Who types does not wait for a backend that does not answer, whatever it makes of a context that ends.
func TestNamesOfBackendThatHangs(t *testing.T) {
	defer bubble.Alone()()
	components = append(components, component{"no_hangs", []string{"hangs"}})
	inBuild["no_hangs"] = true
	defer func() { components = components[:len(components)-1] }()
	synctest.Test(t, func(t *testing.T) {
		hang = make(chan struct{})
		defer close(hang)
		begin := time.Now()
		names := (&backendFlags{url: "hangs://host"}).namesFrom("")
		if took := time.Since(begin); len(names) > 0 || took > time.Second {
			t.Errorf("%q after %v; want nothing, within a second", names, took)
		}
	})
}
