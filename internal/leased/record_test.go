package leased

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func TestText(t *testing.T) {
	type record struct{ Owner Text }
	for text, want := range map[Text]string{
		"":              `{"Owner":""}`,
		"Zoë {\"x\":1}": `{"Owner":"Zoë {\"x\":1}"}`,
		"\xff\x00":      `{"Owner":{"base64":"/wA="}}`,
	} {
		stored := Encode(record{text})
		if string(stored) != want {
			t.Errorf("%q is stored as %s, want %s", text, stored, want)
		}
		var read record
		if err := Decode("here", stored, &read); err != nil || read.Owner != text {
			t.Errorf("%q is read as %q, %v", text, read.Owner, err)
		}
	}
}

// A value is read as it was set, also by another release.
func TestValueRecord(t *testing.T) {
	const format, stored = 2, `{"v":2,"text":{"base64":"/wA="},"token":"9223372036854775809","set":1700000000000001}`
	v := driver.Value{Text: "\xff\x00", Token: 1<<63 + 1, Set: time.UnixMicro(1700000000000001)}
	if got := string(Encode(NewValueRecord(format, v))); got != stored {
		t.Errorf("it is stored as %s, want %s", got, stored)
	}
	var r ValueRecord
	if err := Decode("here", []byte(stored), &r); err != nil || r.Value() != v || r.Format != format {
		t.Errorf("it is read as %+v of format %d, %v; want %+v", r.Value(), r.Format, err, v)
	}
}

func TestDecodeRefuses(t *testing.T) {
	var into struct{ N int }
	if err := Decode("the key", []byte("no JSON"), &into); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("error %v, want ErrRefused", err)
	}
}

// A program reads what it writes, and nothing else.
func TestCheckFormat(t *testing.T) {
	for found, ok := range map[int]bool{0: false, 2: false, 3: true, 4: false, math.MaxInt: false} {
		if err := CheckFormat("the key", found, 3); (err == nil) != ok || err != nil &&
			!errors.Is(err, driver.ErrRefused) {
			t.Errorf("format %d: %v", found, err)
		}
	}
}

func TestTombstone(t *testing.T) {
	for _, row := range []struct {
		why   string
		stone Tombstone
		token uint64
		ok    bool
	}{
		{"a release that is repeated", Tombstone{true, 7}, 7, true},
		{"the ID alone", Tombstone{true, 7}, 0, true},
		{"it was released before its token was known", Tombstone{true, 0}, 7, true},
		{"another claim with this ID", Tombstone{true, 7}, 8, false},
		{"it was broken, or expired", Tombstone{false, 7}, 7, false},
		{"it never was", Tombstone{}, 0, false},
	} {
		if err := row.stone.Release(row.token); (err == nil) != row.ok || err != nil &&
			!errors.Is(err, driver.ErrGone) {
			t.Errorf("%s: releasing %d where %+v was noted answers %v", row.why, row.token, row.stone, err)
		}
	}
}
