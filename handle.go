package holdfast

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ErrInvalidHandle says that a text is not what [Lease.Detach] returned.
var ErrInvalidHandle = errors.New("this is no handle of a lock")

// A handle is what another process needs to go on with a lock that this one holds. It says nothing of the backend, so
// it holds no password.
type handle struct {
	Name   []byte        `json:"name"` // any bytes
	ID     string        `json:"claim"`
	Token  uint64        `json:"token,string"` // of the lease: the driver's, and the count of local hand-offs
	Weight int64         `json:"weight"`
	Limit  int64         `json:"limit"`
	TTL    time.Duration `json:"ttl"`
}

// handleForm is how the text of a handle begins. The number is the version of what follows.
const handleForm = "hf1."

func (h handle) String() string {
	text, _ := json.Marshal(h) // of such fields it cannot fail
	return handleForm + base64.RawURLEncoding.EncodeToString(text)
}

func parseHandle(s string) (h handle, err error) {
	text, ok := strings.CutPrefix(s, handleForm)
	if !ok {
		return h, fmt.Errorf("%w: it should begin with %q; pass what Detach, or holdfast acquire, returned", ErrInvalidHandle, handleForm)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err != nil || h.ID == "" || h.Token == 0 {
		return h, fmt.Errorf("%w: it is damaged; pass all that Detach, or holdfast acquire, returned", ErrInvalidHandle)
	}
	return h, nil
}

// claim is the claim that the handle is of. It lives by its TTL alone, whoever renews it.
func (h handle) claim() driver.Claim {
	return driver.Claim{
		Name: string(h.Name), ID: h.ID, Weight: h.Weight, Limit: h.Limit,
		TTL: h.TTL, Queue: true, Token: h.Token >> tokenShift, Detached: true,
	}
}

// ask is what the claim was made for, as far as the queue tells.
func (h handle) ask() ask {
	switch {
	case h.Weight == 1 && h.Limit == driver.All:
		return reader
	case h.Weight == driver.All:
		return writer
	case h.Limit == 1:
		return alone
	default:
		return ask{kind: "semaphore", mode: permits, weight: h.Weight, limit: h.Limit}
	}
}
