package sqlite

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) setValue(c driver.Claim, v driver.Value) error {
	t.settle(c.Name, nil)
	r := t.findLive(c.Name, c.ID)
	if r == nil || !r.granted || r.Token != c.Token {
		return driver.ErrGone
	}
	write, err := v.Supersede(t.value(c.Name))
	if write {
		t.lasts = true
		t.exec("set_value", []byte(c.Name), int64(v.Token), v.Set.UnixMicro(), []byte(v.Text))
	}
	return err
}

// value reads what a lock keeps; its text is empty also when it was removed.
func (t *tx) value(name string) driver.Value {
	var token, set int64
	var text []byte
	if !t.get("value", []any{[]byte(name)}, &token, &set, &text) {
		return driver.Value{}
	}
	return driver.Value{Text: string(text), Token: uint64(token), Set: time.UnixMicro(set)}
}
