package sqlite

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var errOtherBoot = errors.New("sqllock: the machine has booted since the file was used")

// open is check, and after a boot ends what did not survive it. No client survives a boot. If one lives nevertheless,
// the other boot id is that of another system on the same kernel, whose claims count.
func (t *tx) open() error {
	err := t.check()
	if !errors.Is(err, errOtherBoot) {
		return err
	}
	if inUse(t.d.database, t.d.client) {
		return t.d.refuseBoot()
	}
	if err := t.script(forgetAll); err != nil {
		return err
	}
	if err := t.carryOver(); err != nil {
		return err
	}
	return t.setBoot()
}

func (d *Driver) refuseBoot() error {
	return fmt.Errorf("%w: %s is in use by a system with another boot id, such as another container; "+
		"let all see the same /proc/sys/kernel/random/boot_id, or use a server", driver.ErrRefused, d.database.path)
}

// farAhead stands for how far our clock is ahead of one of which nothing is known: no claim ends early by it.
const farAhead = time.Duration(math.MaxInt64 / 2)

// carryOver moves the deadlines of detached claims to the clock of this boot, by the wall clock: their holders may
// live on, in other systems on the same kernel, or count on them, as with WithMinHold. If it is unknown when the
// other boot began, such a claim lives for a whole TTL from now on.
func (t *tx) carryOver() error {
	boot, err := t.boot()
	if err != nil {
		return err
	}
	ahead := farAhead
	began, known, err := t.began(boot)
	if err != nil {
		return err
	}
	if known {
		ahead = began.Sub(t.d.machine.booted())
	}
	return t.exec(carryClaims, int64(ahead), int64(t.now))
}

// began returns when a boot began.
func (t *tx) began(boot string) (at time.Time, known bool, err error) {
	var us int64
	known, err = t.get(beganAt, []any{boot}, &us)
	return time.UnixMicro(us), known, err
}

// setBoot notes that deadlines belong to our boot.
func (t *tx) setBoot() error {
	t.base, t.lasts = t.floor, true
	if err := t.exec(setBoot, t.d.machine.boot); err != nil {
		return err
	}
	return t.noteBegan()
}

// clockSlack is how far the noted start of our boot may be off before it is noted anew.
const clockSlack = time.Second

// noteBegan notes when our boot began. By the wall clock that changes: a board without a battery learns the time late.
func (t *tx) noteBegan() error {
	m, booted := t.d.machine, t.d.machine.booted()
	at, known, err := t.began(m.boot)
	if err != nil || known && at.Sub(booted).Abs() < clockSlack {
		return err
	}
	t.lasts = true
	if err := t.exec(forgetBoots); err != nil {
		return err
	}
	return t.exec(setBegan, m.boot, booted.UnixMicro())
}
