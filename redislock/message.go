package redislock

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// What a message of a script is about; claims.lua writes them:
//
//	g ID TOKEN TTL CONTENDED    the claim was granted
//	v ID TOKEN TTL CONTENDED    its holder is asked to let go
//	x ID                        it ended against its will
//	w KEY                       the queue under this key of claims changed
const (
	claimGranted = "g"
	claimRevoked = "v"
	claimEnded   = "x"
	queueChanged = "w"
)

// parseMessage reads a message about a claim. One that cannot be understood, perhaps because it is of a newer version,
// says at least that something happened: who waits asks.
func parseMessage(kind, rest string) (id string, m message) {
	id, fields, _ := strings.Cut(rest, " ")
	switch kind {
	case claimEnded:
		return id, message{ended: true}
	case claimGranted, claimRevoked:
		if st, ok := parseGrant(fields); ok {
			st.Revoked = kind == claimRevoked
			return id, message{status: st}
		}
	}
	return id, message{ask: true}
}

// parseGrant reads 'TOKEN TTL CONTENDED', perhaps with more behind it.
func parseGrant(text string) (driver.Status, bool) {
	f := strings.Fields(text)
	if len(f) < 3 {
		return driver.Status{}, false
	}
	token, err1 := strconv.ParseUint(f[0], 10, 64)
	ttl, err2 := strconv.ParseInt(f[1], 10, 64)
	return driver.Status{
		Token:     token,
		Granted:   true,
		TTL:       time.Duration(ttl) * time.Millisecond,
		Contended: f[2] == "1",
	}, err1 == nil && err2 == nil
}
