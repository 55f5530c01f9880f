package drivertest

var identityRows = []row{
	{
		name: "identity",
		why: "clients of one store name it in one way, " +
			"or those who lock in several stores wait for each other in a circle",
		run: func(e *env) {
			before := e.d.Traits().Store
			e.acquire(e.d, e.claim())
			if after, other := e.d.Traits().Store, e.other.Traits().Store; after != before || other != before {
				e.Errorf("the store is %q, then %q, and to another client %q", before, after, other)
			}
		},
		needs: func(d *Facade) bool { return d.Traits().Store != "" },
	},
}
