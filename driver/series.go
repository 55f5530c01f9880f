package driver

import (
	"crypto/rand"
	"strconv"
)

// IDs may come in series: 'SERIES_NUMBER', the number having eight digits. Whoever uses a number of a series on a
// lock has done with all smaller ones of that series there: none of those claims is queued and wanted, or will ever
// be. A driver may then answer [ErrGone] about them, so that it need not remember each of them but only the greatest
// that ended. Claims of one series on one lock have the same TTL. A driver for which IDs are just texts is right too.
const (
	seriesLength = 20 // 100 random bits
	digits       = 8
	lastNumber   = 99_999_999
)

// NewID returns an ID that was never used before. It is the first of a series: see NextID.
func NewID() string { return numbered(rand.Text()[:seriesLength], 1) }

// NextID returns the ID that follows id in its series. If id is the last of its series, or belongs to none, it returns
// the first of a new one.
func NextID(id string) string {
	series, number, ok := split(id)
	if !ok || number >= lastNumber {
		return NewID()
	}
	return numbered(series, number+1)
}

// split splits an ID into its series and its number, if it belongs to one.
func split(id string) (series string, number uint64, ok bool) {
	at := len(id) - digits
	if at < 1 || id[at-1] != '_' {
		return "", 0, false
	}
	number, err := strconv.ParseUint(id[at:], 10, 32)
	return id[:at-1], number, err == nil
}

func numbered(series string, number uint64) string {
	b := make([]byte, 0, maxID)
	b = append(b, series...)
	b = append(b, '_')
	for scale := uint64(lastNumber+1) / 10; scale > 0; scale /= 10 {
		b = append(b, byte('0'+number/scale%10))
	}
	return string(b)
}

// SeriesStart returns what all IDs of the series of an ID begin with, and come after in the order of bytes; for an ID
// that belongs to no series, that ID.
func SeriesStart(id string) string {
	if _, _, ok := split(id); !ok {
		return id
	}
	return id[:len(id)-digits]
}

// SeriesEnd returns the last ID that may be of the series of an ID, in the order of bytes; for an ID that belongs to no
// series, that ID.
func SeriesEnd(id string) string {
	series, _, ok := split(id)
	if !ok {
		return id
	}
	return numbered(series, lastNumber)
}
