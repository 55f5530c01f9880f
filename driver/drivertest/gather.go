package drivertest

import "github.com/holdfast-go/holdfast/driver"

// Gather returns d as a driver that gains by batches: operations gather while so many are under way, and leave
// together while fewer attempts than inFlight are. Zero for both lets each go alone.
func Gather(d driver.BatchDriver, alone, inFlight int) driver.BatchDriver {
	return gathering{d, alone, inFlight}
}

type gathering struct {
	driver.BatchDriver
	alone, inFlight int
}

// Traits implements [driver.BatchDriver].
func (d gathering) Traits() driver.Traits {
	t := d.BatchDriver.Traits()
	t.Alone, t.MaxInFlight = d.alone, d.inFlight
	return t
}

// Unwrap implements [driver.BatchWrapper].
func (d gathering) Unwrap() driver.BatchDriver { return d.BatchDriver }
