package sqlite

import "time"

// reserve is how far the floor is ahead of the clock when it is set, in microseconds, as tokens are.
const reserve = 10_000_000

// token makes the next token of a lock: greater than all before, and no less than the wall clock.
//
// A power failure may take the rows that say which were given out. Therefore each token is at most the floor, which is
// on the disk, or is on the disk itself before anybody learns of it; and after another boot all tokens are greater than
// the floor was. To set the floor anew, also to a lesser one after the clock was set back, is to wait for the disk,
// and so for all rows from before.
func (t *tx) token(name string) (token int64) {
	now := max(time.Now().UnixMicro(), t.base+1)
	if now > t.floor || t.floor > now+reserve {
		t.floor, t.lasts = now+reserve, true
		t.exec("set_floor", t.floor)
	}
	t.get("fence", []any{[]byte(name), now}, &token)
	t.lasts = t.lasts || token > t.floor
	return token
}
