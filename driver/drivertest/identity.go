package drivertest

import "github.com/holdfast-go/holdfast/driver"

var identityRows = []row{
	{
		name: "identity",
		why: "clients of one store name it in one way, " +
			"or those who lock in several stores wait for each other in a circle",
		run: func(e *env) {
			before := driver.Identity(e.d)
			e.acquire(e.d, e.claim())
			if after, other := driver.Identity(e.d), driver.Identity(e.other); after != before || other != before {
				e.Errorf("the store is %q, then %q, and to another client %q", before, after, other)
			}
		},
		needs: func(d driver.Driver) bool { return driver.Identity(d) != "" },
	},
}
