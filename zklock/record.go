package zklock

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// recordFormat is the version of what this driver writes, and the only one that it reads.
const recordFormat = 1

// A record is what the note of a claim holds. The note is made together with the claim's node, of which there is no
// second one while the note is there; it outlives the node for a TTL, so that a late duplicate of the request queues
// nothing, and a repeated release gets the answer of the first.
type record struct {
	Format  int         `json:"v"`
	Owner   leased.Text `json:"owner,omitempty"`
	Value   leased.Text `json:"value,omitempty"`
	TTL     int64       `json:"ttl"` // milliseconds
	Granted bool        `json:"granted,omitempty"`
	End     end         `json:"end,omitempty"`
	Token   uint64      `json:"token,omitempty"` // with End; zero: it was not known
}

// An end says how a claim ended.
type end string

const (
	alive    end = ""
	released end = "released"
	taken    end = "taken" // it expired, was broken, or never was
)

func (d *Driver) newRecord(c driver.Claim, ttl time.Duration) record {
	return record{
		Format: d.format, Owner: leased.Text(c.Owner), Value: leased.Text(c.Value), TTL: driver.Milliseconds(ttl),
	}
}

// ended is the record of a claim that has ended.
func (d *Driver) ended(how end, token uint64) []byte {
	return encode(record{Format: d.format, End: how, Token: token})
}

func encode(r record) []byte { return leased.Encode(r) }

// decode reads a record of a version that this driver knows.
func (d *Driver) decode(path string, data []byte) (r record, err error) {
	if err := leased.Decode(placeOf(path), data, &r); err != nil {
		return r, err
	}
	return r, d.checkFormat(path, r.Format)
}

func (d *Driver) checkFormat(node string, format int) error {
	return leased.CheckFormat(placeOf(node), format, d.format)
}

func placeOf(node string) string { return fmt.Sprintf("the node %q", node) }
