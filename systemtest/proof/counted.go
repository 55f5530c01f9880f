package proof

import "fmt"

// transactions finds numbers that were not counted on one by one by those who say that they committed. Nothing that
// befalls anybody excuses it: who is cut off cannot commit.
func (r Record) transactions() (wrongs []Wrong) {
	for lock, last := range r.Counted {
		if err := r.countedOn(lock, last); err != nil {
			wrongs = append(wrongs, Wrong{Lock: lock, Text: err.Error()})
		}
	}
	return wrongs
}

func (r Record) countedOn(lock string, last int64) error {
	by, unknown := make(map[int64]Count), int64(0)
	for _, c := range r.Counts {
		switch {
		case c.Lock != lock || c.Fate == Undone:
			continue
		case c.Fate == Unknown:
			unknown++
			continue
		}
		if other, twice := by[c.Value]; twice {
			return fmt.Errorf("%v and %v counted to the same", other, c)
		}
		for _, other := range by {
			if other.Return < c.Call && other.Value > c.Value || c.Return < other.Call && c.Value > other.Value {
				return fmt.Errorf("%v and %v came one after the other, and counted the other way", other, c)
			}
		}
		if c.Value > last {
			return fmt.Errorf("%v was forgotten: in the end the number is %d", c, last)
		}
		by[c.Value] = c
	}
	if more := last - int64(len(by)); more > unknown {
		return fmt.Errorf("the number is %d, %d were committed, and of %d nobody knows", last, len(by), unknown)
	}
	return nil
}
