package drivertest

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// hideAbilities leaves the five methods that every driver has, so that the portable fallbacks take over.
func hideAbilities(_ testing.TB, d driver.Driver, _ int) driver.Driver {
	return bare{d}
}

type bare struct{ driver.Driver }
