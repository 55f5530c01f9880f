package zklock

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// recordFormat is the version of what this driver writes. It reads that and the one before.
const recordFormat = 1

// A record is what the note of a claim holds. The note is made together with the claim's node, of which there is no
// second one while the note is there; it outlives the node for a TTL, so that a late duplicate of the request queues
// nothing, and a repeated release gets the answer of the first.
type record struct {
	Format  int    `json:"v"`
	Owner   text   `json:"owner,omitempty"`
	Value   text   `json:"value,omitempty"`
	TTL     int64  `json:"ttl"` // milliseconds
	Granted bool   `json:"granted,omitempty"`
	Kept    int64  `json:"kept,omitempty"` // how often clients renewed it that did not make it
	End     end    `json:"end,omitempty"`
	Token   uint64 `json:"token,omitempty"` // with End; zero: it was not known
}

// An end says how a claim ended.
type end string

const (
	alive    end = ""
	released end = "released"
	taken    end = "taken" // it expired, was broken, or never was
)

func (d *Driver) newRecord(c driver.Claim, ttl time.Duration) record {
	return record{Format: d.format, Owner: text(c.Owner), Value: text(c.Value), TTL: milliseconds(ttl)}
}

// ended is the record of a claim that has ended.
func (d *Driver) ended(how end, token uint64) []byte {
	return encode(record{Format: d.format, End: how, Token: token})
}

// milliseconds rounds up: what is shown of a claim is never less than what was granted.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func encode(r record) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("zklock: a record of plain fields cannot be encoded: " + err.Error())
	}
	return b
}

// decode reads a record of a version that this driver knows.
func (d *Driver) decode(path string, data []byte) (r record, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%w: the node %q holds no record of a claim; delete it if nothing needs it", driver.ErrRefused, path)
	}
	return r, d.checkFormat(path, r.Format)
}

func (d *Driver) checkFormat(node string, format int) error {
	if format > d.format || format < d.format-1 {
		return fmt.Errorf("%w: the node %q has format %d and this program reads up to %d; update this program",
			driver.ErrRefused, node, format, d.format)
	}
	return nil
}

// text is a string of any bytes; in JSON, bytes that are no UTF-8 are in base64.
type text string

type inBase64 struct {
	Base64 []byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(inBase64{[]byte(t)})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var bin inBase64
		err := json.Unmarshal(b, &bin)
		*t = text(bin.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}
