package drivertest

import "github.com/holdfast-go/holdfast/driver"

// Gather returns d as a driver that gains by batches: operations gather while so many are under way, and leave
// together while fewer attempts than inFlight are. Zero for both lets each go alone.
func Gather(d driver.Driver, alone, inFlight int) driver.Driver {
	return gathering{d, alone, inFlight}
}

type gathering struct {
	driver.Driver
	alone, inFlight int
}

// Traits implements [driver.Driver].
func (d gathering) Traits() driver.Traits {
	t := d.Driver.Traits()
	t.Alone, t.MaxInFlight = d.alone, d.inFlight
	return t
}

// Unwrap implements [driver.Wrapper].
func (d gathering) Unwrap() driver.Driver { return d.Driver }
