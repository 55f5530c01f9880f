package sqlite

import (
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// changeBoot ends what did not survive a boot. No client survives it. If one lives nevertheless, the other boot is
// that of another system on the same kernel, whose claims count.
//
// The deadlines of detached claims are moved to the clock of this boot, by the wall clock: their holders may live
// on, in other systems on the same kernel, or count on them, as with WithMinHold. If it is unknown when the other
// boot began, such a claim lives for a whole TTL from now on.
func (t *tx) changeBoot() {
	if t.d.database.folder.inUse(t.d.client.id) {
		t.fail(fmt.Errorf("%w: %s is in use by a system with another boot id or time namespace, such as another "+
			"container; let all see the same /proc/sys/kernel/random/boot_id and /proc/self/ns/time, or use a server",
			driver.ErrRefused, t.d.database.path))
	}
	ahead := time.Duration(math.MaxInt64 / 2) // no claim ends early by it
	if t.began != 0 {
		ahead = time.UnixMicro(t.began).Sub(booted())
	}
	t.script("forget")
	t.exec("carry", int64(ahead), int64(t.now))
	t.setBoot()
}

// setBoot notes that deadlines belong to our boot.
func (t *tx) setBoot() {
	t.began, t.base, t.lasts = booted().UnixMicro(), t.floor, true
	t.exec("set_boot", t.d.clock, t.began)
}

// clockSlack is how far the noted start of our boot may be off before it is noted anew.
const clockSlack = time.Second

// noteBegan notes when our boot began. By the wall clock that changes: a board without a battery learns the time
// late.
func (t *tx) noteBegan() {
	if time.UnixMicro(t.began).Sub(booted()).Abs() >= clockSlack {
		t.began, t.lasts = booted().UnixMicro(), true
		t.exec("set_began", t.began)
	}
}
