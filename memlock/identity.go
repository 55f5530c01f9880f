package memlock

// Identity implements [driver.Identifier]. A store is known in one process only.
func (d *Driver) Identity() string { return "mem:" + d.store.life }
