package zklock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// The name of a claim's node holds all that others need to judge it, so that one list of names tells the whole queue:
//
//	_c_<claim ID>.h<format>.<weight>.<limit>.<TTL in milliseconds>-lock-<sequence>
//
// It ends as those of other clients do, which sort by what follows their word for a lock:
//
//	_c_<UUID>-lock-<sequence>                                         Curator, and go-zookeeper with 32 digits
//	_c_<UUID>-__READ__<sequence>  and  _c_<UUID>-__WRIT__<sequence>   Curator's read-write lock
//	<32 digits>__lock__<sequence>  and  <32 digits>__rlock__<sequence> kazoo
//
// Anything else among the children of a queue is no claim.

// A seat is a claim in the queue, as the name of its node tells.
type seat struct {
	node   string // its name
	id     string
	format int
	weight int64
	limit  int64
	ttl    time.Duration // that it was queued with; peerRetry for a peer's claim, of which that is not known
	seq    int32
	peer   bool // made by another kind of client
	asks   bool // a peer that can be asked to let go
}

// A word stands before the sequence number in the names of nodes.
type word struct {
	text          string
	weight, limit int64 // what a peer means by it
	peer          func(head string) bool
}

var words = []word{
	{"-lock-", 1, 1, isProtected},
	{"-__READ__", 1, driver.All, isProtected},
	{"-__WRIT__", driver.All, driver.All, isProtected},
	{"__lock__", driver.All, driver.All, isHex32},
	{"__rlock__", 1, driver.All, isHex32},
}

// word is what the names of nodes for claims like this have in a layout.
func (k keyspace) word(weight, limit int64) string {
	reads, writes := limit == driver.All && weight == 1, limit == driver.All && weight == limit
	switch {
	case k.layout == Kazoo && reads:
		return "__rlock__"
	case k.layout == Kazoo:
		return "__lock__"
	case k.layout == Curator && reads:
		return "-__READ__"
	case k.layout == Curator && writes:
		return "-__WRIT__"
	default:
		return "-lock-"
	}
}

// node is the name of a new claim's node, to which the server adds the sequence number.
func (d *Driver) node(c driver.Claim, ttl time.Duration) string {
	return fmt.Sprintf("%s%s.h%d.%d.%d.%d%s", protected, c.ID, d.format, c.Weight, c.Limit, driver.Milliseconds(ttl),
		d.keys.word(c.Weight, c.Limit))
}

// protected is what begins the names of nodes that a client can find again after a lost answer.
const protected = "_c_"

// parse takes the name of a node apart. ok is false when it is no claim.
func parse(node string) (s seat, ok bool) {
	for _, w := range words {
		head, tail, found := cutLast(node, w.text)
		if !found {
			continue
		}
		seq, err := strconv.ParseInt(tail, 10, 32)
		if err != nil || len(strings.TrimPrefix(tail, "-")) < sequenceDigits {
			continue
		}
		s = seat{node: node, seq: int32(seq)}
		if s.parseOwn(head) {
			return s, true
		}
		if w.peer(head) {
			s.id, s.peer, s.weight, s.limit, s.ttl = node, true, w.weight, w.limit, peerRetry
			s.asks = len(head) == len(protected)+uuidLength
			return s, true
		}
	}
	return s, false
}

// sequenceDigits is how many digits ZooKeeper writes at least.
const sequenceDigits = 10

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// parseOwn reads what a name of this package tells. Of a format that it does not know that is the format alone.
func (s *seat) parseOwn(head string) bool {
	parts := strings.Split(strings.TrimPrefix(head, protected), ".")
	if len(parts) < 2 || !strings.HasPrefix(head, protected) || !strings.HasPrefix(parts[1], "h") {
		return false
	}
	format, err := strconv.Atoi(parts[1][1:])
	if err != nil {
		return false
	}
	s.id, s.format = parts[0], format
	if len(parts) != 5 {
		s.weight, s.limit = driver.All, driver.All
		return true
	}
	var ttl int64
	for i, into := range []*int64{&s.weight, &s.limit, &ttl} {
		if *into, err = strconv.ParseInt(parts[2+i], 10, 64); err != nil {
			return false
		}
	}
	s.ttl = time.Duration(ttl) * time.Millisecond
	return true
}

const uuidLength = 36

// isProtected reports whether a name begins with the mark and the UUID of a protected node.
func isProtected(head string) bool {
	id, ok := strings.CutPrefix(head, protected)
	if len(id) == uuidLength {
		return ok && isHex32(strings.ReplaceAll(id, "-", ""))
	}
	return ok && isHex32(id)
}

func isHex32(s string) bool {
	if len(s) != 32 {
		return false
	}
	for _, c := range []byte(s) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

// compare orders claims by their sequence numbers, which wrap around.
func (s seat) compare(other seat) int {
	if s.seq != other.seq {
		return int(s.seq - other.seq)
	}
	// A writer of Curator that reads too has its own number there once more.
	return strings.Compare(other.node, s.node)
}

// seatsAmong are the claims among the children of a queue, oldest first.
func seatsAmong(children []string) []seat {
	seats := make([]seat, 0, len(children))
	for _, node := range children {
		if s, ok := parse(node); ok {
			seats = append(seats, s)
		}
	}
	slices.SortFunc(seats, seat.compare)
	return seats
}

// checkFormats reports a claim of a release whose claims this one cannot judge.
func (d *Driver) checkFormats(seats []seat) error {
	for _, s := range seats {
		if s.peer {
			continue
		}
		if err := d.checkFormat(s.node, s.format); err != nil {
			return err
		}
	}
	return nil
}
