package redislock

import (
	"strconv"
	"strings"
)

// The state of a lock is a text 'FORMAT KIND TOKEN REFRESH RENEWED ID ...', as claims.lua says. All that is ahead of
// the ID has the same width in every state of a format, so scripts cut things out where they are, instead of
// searching.
const (
	kindWidth    = 1
	timeDigits   = 16 // of TOKEN, which is a time, and REFRESH: µs
	renewedWidth = 13 // ms
)

// IDs of a series end in '_' and a number, see [driver.NextID].
const numberDigits = 8

// places are the words by which scripts call the places of things in a state, and in an ID, in pairs
// with the numbers that they stand for. Places count from 1, and those in an ID from its end, as string.sub of Lua
// has them.
func places() []string {
	kind := len(strconv.Itoa(format)) + len(" ") + 1
	token := kind + kindWidth + len(" ")
	refresh := token + timeDigits + len(" ")
	renewed := refresh + timeDigits + len(" ")
	id := renewed + renewedWidth + len(" ")
	return words(map[string]int{
		"KIND_AT":     kind,
		"TOKEN_AT":    token,
		"TOKEN_END":   token + timeDigits - 1,
		"LONE_ID_AT":  refresh, // of a lone claim, which has its ID there
		"REFRESH_AT":  refresh,
		"REFRESH_END": refresh + timeDigits - 1,
		"ID_AT":       id,
		"SERIES_END":  -numberDigits - 1, // the '_'
		"NUMBER_AT":   -numberDigits,     // what follows it
		"MS_END":      -len("000") - 1,   // the last digit of ms in a text of µs
	})
}

// stateField is the field of the state, in the hash of the claims.
const stateField = "~"

// isIdle reports whether a state says that the lock has no claims.
func isIdle(state string) bool { return strings.HasPrefix(state, strconv.Itoa(format)+" i") }

func words(numbers map[string]int) []string {
	var pairs []string
	for word, number := range numbers {
		pairs = append(pairs, word, strconv.Itoa(number))
	}
	return pairs
}

// constants puts what is the same for all requests of a driver into its scripts.
func (w wording) constants() *strings.Replacer {
	return strings.NewReplacer(append(places(),
		"FORMAT", strconv.Itoa(format),
		"LAST_TOKEN", keyOrFalse(w.retention.lastToken),
		"FIRST_TOKEN", keyOrFalse(w.retention.firstToken),
		"KEEP_TTLS", strconv.Itoa(keepTTLs),
		"KEEP_APART", strconv.FormatInt(w.apart.Milliseconds(), 10),
		"KEEP", strconv.FormatInt(w.usual.Milliseconds(), 10),
		"MARGIN", strconv.FormatInt(w.margin(), 10),
		"CHANNELS", quote(w.channels),
	)...)
}
