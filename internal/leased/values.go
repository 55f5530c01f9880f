package leased

import (
	"github.com/holdfast-go/holdfast/driver"
)

// value returns what a holder has set last, as [driver.OpValue] says.
func (t *task) value(name string) (driver.Value, error) {
	o := t.ask(Step{Act: Get, Name: name})
	if o.Err != nil || o.Value.Text == "" {
		return driver.Value{}, o.Err
	}
	return o.Value, nil
}

// setValue sets it, as [driver.OpSetValue] says. That a claim is granted is looked at once: it stays so for as long as
// it is there, which the step compares.
func (t *task) setValue(c driver.Claim, v driver.Value) error {
	if err := v.Validate(); err != nil {
		return err
	}
	for {
		own, err := t.granted(c)
		switch {
		case err != nil:
			return err
		case own.Token != c.Token || own.Foreign:
			return driver.ErrGone
		}
		kept := t.ask(Step{Act: Get, Name: c.Name})
		if kept.Err != nil {
			return kept.Err
		}
		if write, err := v.Supersede(kept.Value); !write {
			return err
		}
		o := t.ask(Step{
			Act: Set, Name: c.Name, ID: c.ID, Place: own.Place, Token: own.Token, Version: kept.Version, Value: v,
			Keep: own.TTL, // that it was removed is known for as long as a late request may come
		})
		if o.Err != nil || o.Done {
			return o.Err
		}
	}
}
