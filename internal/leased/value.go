package leased

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A ValueRecord is how a [driver.Value] is stored.
type ValueRecord struct {
	Format int    `json:"v"`
	Text   Text   `json:"text,omitempty"` // empty: it was removed
	Token  uint64 `json:"token,string"`
	Set    int64  `json:"set"` // microseconds since 1970, by the clock of who set it
}

// NewValueRecord is the record of a value in this format.
func NewValueRecord(format int, v driver.Value) ValueRecord {
	return ValueRecord{Format: format, Text: Text(v.Text), Token: v.Token, Set: v.Set.UnixMicro()}
}

// Value is what is kept, with an empty text also where it was removed.
func (r ValueRecord) Value() driver.Value {
	return driver.Value{Text: string(r.Text), Token: r.Token, Set: time.UnixMicro(r.Set)}
}
