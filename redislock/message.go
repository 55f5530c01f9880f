package redislock

import (
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

// parseMessage reads a message about a claim. One that cannot be understood says at least that something happened: the
// zero Status has the server asked.
func parseMessage(kind, rest string) (id string, st driver.Status, err error) {
	id, fields, _ := strings.Cut(rest, " ")
	switch kind {
	case claimEnded:
		return id, st, driver.ErrGone
	case claimGranted, claimRevoked:
		if st, ok := parseGrant(fields); ok {
			st.Revoked = kind == claimRevoked
			return id, st, nil
		}
	}
	return id, st, nil
}

// parseGrant reads 'TOKEN TTL CONTENDED'.
func parseGrant(text string) (driver.Status, bool) {
	f := fields{rest: text}
	token, ttl := f.unsigned(), f.number()
	return driver.Status{
		Token:     token,
		Granted:   true,
		TTL:       time.Duration(ttl) * time.Millisecond,
		Contended: f.rest == "1",
	}, !f.bad && (f.rest == "0" || f.rest == "1")
}
