package leased

import (
	"github.com/holdfast-go/holdfast/driver"
)

// queue returns the first claims on a lock, so many or all, as [driver.OpQueue] says.
func (t *task) queue(name string, most int) ([]driver.Entry, error) {
	o := t.ask(Step{Act: List, Name: name, Most: most})
	if o.Err != nil {
		return nil, o.Err
	}
	if most > 0 {
		o.Ahead = o.Ahead[:min(most, len(o.Ahead))]
	}
	entries, b := make([]driver.Entry, len(o.Ahead)), NoBounds()
	for i, s := range o.Ahead {
		b = b.Add(s)
		entries[i] = driver.Entry{
			Claim: driver.Claim{
				Name: name, ID: s.ID, Weight: s.Weight, Limit: s.Limit, TTL: s.TTL, Queue: true,
				Owner: s.Owner, Value: s.Value, Token: s.Token, Detached: s.Detached,
			},
			Granted: b.Fit(), // once it is not, it never is again
			Since:   s.Since,
			Left:    max(s.Left, 1),
		}
	}
	return entries, nil
}
