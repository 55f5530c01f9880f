package sqltest

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A grant that is pushed says that others wait behind, or a holder would keep the lock among its own for long.
func TestPushedGrantIsContended(t *testing.T) {
	path := newFile(t)
	a, b := open(t, path), open(t, path)
	holder, next, last := mutex("m"), mutex("m"), mutex("m")
	request(t, a, holder, true)
	request(t, b, next, false)
	request(t, a, last, false)
	if err := a.Release(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	if st, err := await(b, next); err != nil || !st.Contended {
		t.Errorf("the grant is %+v, %v, though another waits", st, err)
	}
}

// A wake-up is sent also if the request that caused it answers that its claim is gone: here the renewal of a holder
// whose claim has expired.
func TestExpiryFoundByRenewal(t *testing.T) {
	path := newFile(t)
	a, b := open(t, path), open(t, path)
	holder, next := mutex("m"), mutex("m")
	holder.Token = request(t, a, holder, true).Token
	request(t, b, next, false)
	holder.TTL = a.Traits().MinTTL // from now on, however long the others took
	st := request(t, a, holder, true)
	for {
		if err := driver.Sleep(t.Context(), st.TTL); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Request(t.Context(), holder); err != nil {
			break
		}
	}
	awaitGrant(t, b, next)
}
