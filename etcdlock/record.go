package etcdlock

import (
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// recordFormat is the version of what this driver writes and reads.
const recordFormat = 1

// A record is what the key of a claim holds.
type record struct {
	Format  int            `json:"v"`
	ID      string         `json:"id"` // of a peer, its lease
	Owner   leased.Text    `json:"owner,omitempty"`
	Value   leased.Text    `json:"value,omitempty"`
	Weight  int64          `json:"weight"`
	Limit   int64          `json:"limit"`
	TTL     int64          `json:"ttl"`   // milliseconds
	Since   int64          `json:"since"` // milliseconds since 1970, by the client's clock
	Revoked bool           `json:"revoked,omitempty"`
	Fits    *leased.Bounds `json:"fits,omitempty"` // the claim is granted

	Detached bool `json:"detached,omitempty"`
}

// A tombstone is what stays of a claim that has ended: a late copy of its request queues nothing, and a repeated
// release gets the answer of the first.
type tombstone struct {
	Format   int    `json:"v"`
	Released bool   `json:"released"`
	Token    uint64 `json:"token,omitempty"` // zero: it was not known
}

// A seat is a claim in the queue, as read.
type seat struct {
	record
	key   string
	token uint64
	mod   int64 // revision of the last change
	lease clientv3.LeaseID
	peer  bool // made by a concurrency.Mutex
}

func (s seat) exclusive() bool { return s.Weight == s.Limit }

func (d *Driver) newRecord(c driver.Claim) record {
	return record{
		Format: d.format, ID: c.ID, Owner: leased.Text(c.Owner), Value: leased.Text(c.Value),
		Weight: c.Weight, Limit: c.Limit,
		TTL: driver.Milliseconds(c.TTL), Since: time.Now().UnixMilli(), Detached: c.Detached,
	}
}

func encode(record any) string { return string(leased.Encode(record)) }

// decode reads a record or a tombstone of a version that this driver knows.
func (d *Driver) decode(kv *mvccpb.KeyValue, format *int, into any) error {
	if err := leased.Decode(placeOf(kv), kv.Value, into); err != nil {
		return err
	}
	return leased.CheckFormat(placeOf(kv), *format, d.format)
}

func placeOf(kv *mvccpb.KeyValue) string { return fmt.Sprintf("the key %q", kv.Key) }

// seats reads the claims among the keys of a queue. Keys that are no claims, such as those of a lock whose name
// goes on after a slash, are left out.
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
	s, ok = d.emptySeat(queue, kv)
	if !ok || s.peer {
		return s, ok, nil
	}
	err = d.decode(kv, &s.Format, &s.record)
	switch foreign := d.keys.layout == Concurrency; {
	case foreign && (s.Format == 0 || !s.isClaim()):
		return s, false, nil // another program's, such as a candidate's in an election
	case err == nil && !s.isClaim():
		err = leased.NoRecord(placeOf(kv))
	}
	return s, err == nil, err
}

// emptySeat is what a key of the queue tells without its record. ok is false when the key is of another queue.
func (d *Driver) emptySeat(queue string, kv *mvccpb.KeyValue) (s seat, ok bool) {
	s = seat{
		key: string(kv.Key), token: uint64(kv.CreateRevision), mod: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease),
	}
	if at, id, isPeer := peerKey(kv); isPeer && at == queue && d.keys.layout == Concurrency {
		s.ID, s.peer, s.Weight, s.Limit = id, true, 1, 1
		return s, true
	}
	at, ok := queueOf(s.key)
	return s, ok && at == queue
}

// anySeat is seat for a claim of whatever format, with what can be read of its record.
func (d *Driver) anySeat(queue string, kv *mvccpb.KeyValue) (s seat, ok bool) {
	s, ok = d.emptySeat(queue, kv)
	if ok && !s.peer && json.Unmarshal(kv.Value, &s.record) != nil {
		s.record = record{ID: s.ID}
	}
	return s, ok
}

// isClaim reports whether a record asks for what a claim may: anything else is none of ours. So ID, weight and limit
// must be there in every format to come.
func (r record) isClaim() bool {
	return r.ID != "" && 1 <= r.Weight && r.Weight <= r.Limit && r.Limit <= driver.All
}
