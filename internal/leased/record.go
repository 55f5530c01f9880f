package leased

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// Encode returns a record of plain fields as JSON.
func Encode(record any) []byte {
	b, err := json.Marshal(record)
	if err != nil {
		panic("leased: a record of plain fields cannot be encoded: " + err.Error())
	}
	return b
}

// Decode reads a record. An error names the place where it is stored, such as `the key "x"`, and is a
// [driver.ErrRefused]: asking again would find the same.
func Decode(place string, data []byte, record any) error {
	if err := json.Unmarshal(data, record); err != nil {
		return NoRecord(place)
	}
	return nil
}

// NoRecord is the error about a place where what is stored is no record.
func NoRecord(place string) error {
	return fmt.Errorf("%w: %s holds no record of a claim; delete it if nothing needs it", driver.ErrRefused, place)
}

// CheckFormat refuses a record of another format than the one that this program writes.
func CheckFormat(place string, found, written int) error {
	if found != written {
		return fmt.Errorf("%w: %s has format %d and this program knows format %d; "+
			"run the same version of holdfast everywhere", driver.ErrRefused, place, found, written)
	}
	return nil
}

// Text is a string of any bytes. In JSON, bytes that are not UTF-8 are in base64.
type Text string

type inBase64 struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes a string, or an object with the bytes in base64.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(inBase64{[]byte(t)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var bin inBase64
		err := json.Unmarshal(b, &bin)
		*t = Text(bin.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}
