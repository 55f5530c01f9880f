package zklock

import "testing"

// A look finds the claim waiting. Before that is noted, the claim hears that what it waits for has ended.
func TestLookFromBeforeTheGrant(t *testing.T) {
	e := &claim{news: make(chan struct{}, 1)}
	waits := verdict{watch: seat{node: "the one ahead"}, retry: 1}
	if st := e.looked(waits, false); st.Granted || st.Retry == 0 {
		t.Fatalf("a claim that waits is answered with %+v", st)
	}
	e.grant()
	if st := e.looked(waits, true); !st.Granted || st.Retry != 0 || !st.Contended {
		t.Errorf("a grant was told of, and then the answer is %+v", st)
	}
}
