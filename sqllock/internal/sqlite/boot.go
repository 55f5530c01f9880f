package sqlite

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var errOtherBoot = errors.New("sqllock: the machine has booted since the file was used")

// open is check, and ends what did not survive that the machine booted. No client does: where one lives, the other boot is
// that of another system on the same kernel, whose claims count.
func (t *tx) open() error {
	err := t.check()
	if !errors.Is(err, errOtherBoot) {
		return err
	}
	if inUse(t.d.place, t.d.client) {
		return t.d.refuseBoot()
	}
	if err := t.exec(forgetAll); err != nil {
		return err
	}
	if err := t.carryOver(); err != nil {
		return err
	}
	return t.setBoot()
}

func (d *Driver) refuseBoot() error {
	return fmt.Errorf("%w: %s is in use by a system with another boot id, such as another container; "+
		"let all see the same /proc/sys/kernel/random/boot_id, or use a server", driver.ErrRefused, d.place.path)
}

// unknown is by how much a clock is ahead of one of which nothing is known: no claim ends early by it.
const unknown = time.Duration(math.MaxInt64 / 2)

// carryOver keeps the claims that clients have left alone for what is left of their time, by the wall clock: their
// holders may live on, in other systems on the same kernel, or count on them, as for WithMinHold. Where it is not known
// when the other boot began that is a whole TTL.
func (t *tx) carryOver() error {
	var found int
	var boot string
	if _, err := t.get(readStore, nil, &found, &boot); err != nil {
		return err
	}
	ahead := unknown
	began, known, err := t.began(boot)
	if err != nil {
		return err
	}
	if known {
		ahead = began.Sub(t.d.machine.booted)
	}
	return t.exec(carryClaims, int64(ahead), int64(t.now))
}

// began returns when a boot began.
func (t *tx) began(boot string) (at time.Time, known bool, err error) {
	var us int64
	known, err = t.get(beganAt, []any{boot}, &us)
	return time.UnixMicro(us), known, err
}

// setBoot says that deadlines belong to our boot.
func (t *tx) setBoot() error {
	if err := t.exec(setBoot, t.d.machine.boot); err != nil {
		return err
	}
	return t.noteBegan()
}

// clockSlack is how far the wall clock may be off until the note of when the machine booted is made anew.
const clockSlack = time.Second

// noteBegan notes when our boot began, which changes with the wall clock: a board without a battery learns the time late.
func (t *tx) noteBegan() error {
	m := t.d.machine
	at, known, err := t.began(m.boot)
	if err != nil || known && at.Sub(m.booted).Abs() < clockSlack {
		return err
	}
	if err := t.exec(forgetBoots); err != nil {
		return err
	}
	return t.exec(setBegan, m.boot, m.booted.UnixMicro())
}
