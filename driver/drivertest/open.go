package drivertest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Open opens the driver of a URL, as [driver.Open] does, and returns a [Facade] of it.
func Open(ctx context.Context, url string) (*Facade, error) { return Wrap(driver.Open(ctx, url)) }

// Wrap returns a [Facade] of a driver that was opened, or the error.
func Wrap(d driver.Driver, err error) (*Facade, error) {
	if err != nil {
		return nil, err
	}
	return NewFacade(d), nil
}
