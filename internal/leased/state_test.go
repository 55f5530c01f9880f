package leased

import (
	"testing"
	"testing/synctest"
)

// A look finds the claim waiting. Before that is noted, the claim learns that what it waits for has ended.
func TestReadingFromBeforeTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		waits := Verdict{Watch: "the one ahead", Retry: 1}
		if st := e.Note(Reading{Verdict: waits}); st.Granted || st.Retry == 0 {
			t.Fatalf("a claim that waits is answered with %+v", st)
		}
		e.Grant()
		granted := Verdict{Granted: true}
		if v := e.Verdict(); v != granted {
			t.Errorf("a grant was told of, and the verdict is %+v", v)
		}
		st := e.Note(Reading{Verdict: waits, Behind: true})
		if !st.Granted || st.Retry != 0 || !st.Contended || e.Verdict() != granted {
			t.Errorf("a grant was told of, and then the answer is %+v, and the verdict %+v", st, e.Verdict())
		}
		cs.Forget(e)
	})
}

// Readings are noted in any order. What changes for the claim is news.
func TestOlderReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		e.Note(Reading{Verdict: Verdict{Watch: "Q"}, Behind: true, Revision: 12})
		<-e.News()
		st := e.Note(Reading{Verdict: Verdict{Watch: "P", Until: ItsTurn, Retry: 1}, Revision: 10})
		if v := e.Verdict(); v.Watch != "Q" || e.Revision() != 12 || st.Retry != 0 || !st.Contended ||
			len(e.News()) > 0 {
			t.Errorf("an older reading counts: %+v, %+v", v, st)
		}
		bounds := Bounds{Sum: 3, Limit: 5}
		st = e.Note(Reading{Verdict: Verdict{Granted: true, Bounds: bounds}, Revision: 11})
		if !st.Granted || e.Bounds() != bounds || !e.IsGranted() || st.Revoked {
			t.Errorf("a grant was read, and is not noted because the reading is older: %+v", st)
		}
		<-e.News()
		cs.Forget(e)
	})
}

// A look that does not tell who is behind a claim takes nothing back that another one has told, whichever is noted
// first.
func TestPartialReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := Verdict{Watch: "the one ahead"}
		told := Reading{Verdict: waits, Behind: true, Revision: 12}
		partial := Reading{Verdict: waits, Partial: true, Revision: 13}
		for _, readings := range [][]Reading{{told, partial}, {partial, told}} {
			var cs Claims[*entry]
			e := begin(&cs)
			for i, r := range readings {
				if st := e.Note(r); (i > 0 || !r.Partial) && !st.Contended {
					t.Errorf("after %+v: %+v", readings[:i+1], st)
				}
			}
			cs.Forget(e)
		}
	})
}

// A watch tells of a request to let go. A renewal that has read before that is noted later.
func TestOlderReadingHidesNoRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		e.Note(Reading{Verdict: Verdict{Granted: true}, Revision: 10})
		e.Revoke(true)
		if st := e.Note(Reading{Verdict: Verdict{Granted: true}, Revision: 11}); !st.Revoked {
			t.Error("the request to let go is forgotten")
		}
		cs.Forget(e)
	})
}

// A request to let go is for who holds the lock, and is kept for who waits until then.
func TestRevocationIsForTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		if st := e.Note(Reading{Verdict: Verdict{Watch: "P"}, Revoked: true, Revision: 10}); st.Revoked {
			t.Errorf("who waits is to let go: %+v", st)
		}
		if st := e.Note(Reading{Verdict: Verdict{Granted: true}, Revision: 11}); !st.Revoked {
			t.Errorf("the holder is not told: %+v", st)
		}
		cs.Forget(e)
	})
}
