package redislock

import (
	"strconv"
	"strings"
)

// fields reads a text that scripts wrote, one field after the other. Once something is not as expected it is bad for
// good, so it is enough to look at the end.
type fields struct {
	rest string // what has not been read
	bad  bool
}

// word reads up to the next space.
func (f *fields) word() string {
	word, rest, found := strings.Cut(f.rest, " ")
	f.rest, f.bad = rest, f.bad || !found
	return word
}

// number reads a word that is a number.
func (f *fields) number() int64 { return f.parse(f.word()) }

// unsigned reads a word that is a number without a sign.
func (f *fields) unsigned() uint64 {
	n, err := strconv.ParseUint(f.word(), 10, 64)
	f.bad = f.bad || err != nil
	return n
}

func (f *fields) parse(word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	f.bad = f.bad || err != nil
	return n
}

// counted reads 'LENGTH:TEXT' to the end, and returns the first LENGTH bytes of the text, and what follows them.
func (f *fields) counted() (text, behind string) {
	length, all, _ := strings.Cut(f.rest, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(all) {
		f.bad = true
		return "", ""
	}
	f.rest = ""
	return all[:n], all[n:]
}
