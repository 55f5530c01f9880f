package claimstest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A client that watches many queues, as for locks that it keeps for its next callers, looks at all of them in one
// statement every 50 to 100 ms, learns of each that changes, and looks at none when nobody is to be told.
func testWatchedTogether(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	db, err := sql.Open(s.SQL, s.Source(p.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := sqllock.New(t.Context(), db, s.Dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	told := make(chan driver.Event, 200)
	stop := d.Subscribe(func(e driver.Event) { told <- e })
	other := s.client(t)
	var batch []driver.Op
	held := make(map[string]driver.Claim)
	for i := range 50 {
		name := fmt.Sprint(t.Name(), i)
		switch i % 3 {
		case 1:
			held[name] = request(t, other, mutex(name), true)
		case 2:
			held[name] = queued(t, other, mutex(name))
		}
		batch = append(batch, driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: name}})
	}
	d.Do(t.Context(), batch, func(i int, r driver.Result) {
		if r.Err != nil {
			t.Errorf("watching %s: %v", batch[i].Claim.Name, r.Err)
		}
	})
	p.Count(statements)
	began := time.Now()
	driver.Sleep(t.Context(), 2*time.Second)
	looks := p.Counted()
	if most := int(time.Since(began)/(50*time.Millisecond)) + 20; looks == 0 || looks > most { // some are of a sweep
		t.Errorf("%d statements in %v, want %d at most", looks, time.Since(began), most)
	}
	if len(told) > 0 {
		t.Errorf("told %+v, though nothing has changed", <-told)
	}
	for _, op := range batch {
		c := request(t, other, mutex(op.Claim.Name), held[op.Claim.Name].ID == "")
		select {
		case e := <-told:
			if e.Name != c.Name {
				t.Errorf("told of %q, want %q", e.Name, c.Name)
			}
		case <-time.After(driver.WatchTime / 2): // after that one is told anyway
			t.Fatalf("not told of %q", c.Name)
		}
		release(t, other, c)
	}
	stop()
	p.Count(statements)
	driver.Sleep(t.Context(), time.Second)
	if looks := p.Counted(); looks > 5 {
		t.Errorf("%d statements while nobody watches", looks)
	}
	for _, c := range held {
		release(t, other, c)
	}
}
