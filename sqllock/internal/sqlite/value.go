package sqlite

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) setValue(c driver.Claim, v driver.Value) error {
	if _, err := t.settle(c.Name, nil); err != nil {
		return err
	}
	r, err := t.findLive(c.Name, c.ID)
	switch {
	case err != nil:
		return err
	case r == nil || !r.granted || r.Token != c.Token:
		return driver.ErrGone
	}
	kept, err := t.value(c.Name)
	if err != nil {
		return err
	}
	write, err := v.Supersede(kept)
	if !write {
		return err
	}
	t.lasts = true
	return t.exec(setValue, []byte(c.Name), int64(v.Token), v.Set.UnixMicro(), []byte(v.Text))
}

// value reads what a lock keeps; its text is empty also when it was removed.
func (t *tx) value(name string) (v driver.Value, err error) {
	var token, set int64
	var text []byte
	found, err := t.get(valueOf, []any{[]byte(name)}, &token, &set, &text)
	if !found || err != nil {
		return driver.Value{}, err
	}
	return driver.Value{Text: string(text), Token: uint64(token), Set: time.UnixMicro(set)}, nil
}
