package drivertest

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Open opens the driver of a URL, as [driver.Open] does, with a method for each operation: its own where it has them,
// and those of a [Facade] otherwise.
func Open(ctx context.Context, url string) (driver.Driver, error) {
	d, err := driver.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	if own, ok := driver.As[driver.Driver](d); ok {
		return own, nil
	}
	return NewFacade(d), nil
}
