package memlock_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A request that was sent before its claim was left alone renews nothing, and says how long the claim still lives: who
// believed more would hold a lock that is free.
func TestOlderRequestIsToldWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open()
		older := mutex("a")
		older.Token = request(t, d, older, true).Token
		alone := older
		alone.Detached = true
		request(t, d, alone, true)
		time.Sleep(alone.TTL / 3)
		if st := request(t, d, older, true); st.TTL != alone.TTL*2/3 {
			t.Errorf("it is told that the claim lives for %v, want %v", st.TTL, alone.TTL*2/3)
		}
	})
}
