package etcdlock

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// recordFormat is the version of what this driver writes. It reads that and the one before.
const recordFormat = 1

// A record is what the key of a claim holds.
type record struct {
	Format  int   `json:"v"`
	Owner   text  `json:"owner,omitempty"`
	Value   text  `json:"value,omitempty"`
	Weight  int64 `json:"weight"`
	Limit   int64 `json:"limit"`
	TTL     int64 `json:"ttl"`   // milliseconds
	Since   int64 `json:"since"` // milliseconds since 1970, by the client's clock
	Revoked bool  `json:"revoked,omitempty"`
	Fits    *fit  `json:"fits,omitempty"` // the claim is granted

	Detached bool `json:"detached,omitempty"`
}

// A fit bounds a granted claim and all that were ahead of it when it was granted: nothing is ever put in ahead, so the
// sum can only become less and the limit greater.
type fit struct {
	Sum   int64 `json:"sum"`
	Limit int64 `json:"limit"`
}

// A tomb is what is noted of a claim that ended, so that a late duplicate of its request queues nothing and a repeated
// release gets the answer of the first.
type tomb struct {
	Format   int    `json:"v"`
	Released bool   `json:"released"`
	Token    uint64 `json:"token,omitempty"` // zero: it was not known
}

// A seat is a claim in the queue, as read.
type seat struct {
	record
	id    string
	key   string
	token uint64
	mod   int64 // revision of the last change
	lease clientv3.LeaseID
	peer  bool // made by a concurrency.Mutex
}

func (s seat) exclusive() bool { return s.Weight == s.Limit }

func (d *Driver) newRecord(c driver.Claim) record {
	return record{
		Format: d.format, Owner: text(c.Owner), Value: text(c.Value), Weight: c.Weight, Limit: c.Limit,
		TTL: milliseconds(c.TTL), Since: time.Now().UnixMilli(), Detached: c.Detached,
	}
}

// milliseconds rounds up: what is shown of a claim is never less than what was granted.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("etcdlock: a record of plain fields cannot be encoded: " + err.Error())
	}
	return string(b)
}

// decode reads a record or a tomb of a version that this driver knows.
func (d *Driver) decode(kv *mvccpb.KeyValue, format *int, into any) error {
	if err := json.Unmarshal(kv.Value, into); err != nil {
		return fmt.Errorf("%w: the key %q holds no record of a claim; delete it if nothing needs it", driver.ErrRefused, kv.Key)
	}
	if *format > d.format || *format < d.format-1 {
		return fmt.Errorf("%w: the key %q has format %d and this program reads up to %d; update this program",
			driver.ErrRefused, kv.Key, *format, d.format)
	}
	return nil
}

// seats reads the claims among the keys of a queue. Keys that are no claims, such as those of a lock whose name goes on
// after a slash, are left out.
func (d *Driver) seats(queue string, kvs []*mvccpb.KeyValue) ([]seat, error) {
	seats := make([]seat, 0, len(kvs))
	for _, kv := range kvs {
		s, ok, err := d.seat(queue, kv)
		if err != nil {
			return nil, err
		}
		if ok {
			seats = append(seats, s)
		}
	}
	return seats, nil
}

func (d *Driver) seat(queue string, kv *mvccpb.KeyValue) (s seat, ok bool, err error) {
	s = seat{key: string(kv.Key), token: uint64(kv.CreateRevision), mod: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease)}
	foreign := d.keys.layout == Concurrency
	if at, id, isPeer := peerKey(kv); foreign && isPeer && at == queue {
		s.id, s.peer, s.Weight, s.Limit = id, true, 1, 1
		return s, true, nil
	}
	at, id, ok := claimKey(s.key)
	if !ok || at != queue {
		return s, false, nil
	}
	s.id = id
	if err := d.decode(kv, &s.Format, &s.record); err != nil {
		return s, false, unlessForeign(err, foreign && s.Format == 0)
	}
	return s, true, nil
}

// unlessForeign drops the error about a key that another program made.
func unlessForeign(err error, foreign bool) error {
	if foreign {
		return nil
	}
	return err
}

// text is a string of any bytes; in JSON, bytes that are no UTF-8 are in base64.
type text string

type binary struct {
	Base64 []byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(binary{[]byte(t)})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var bin binary
		err := json.Unmarshal(b, &bin)
		*t = text(bin.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}
