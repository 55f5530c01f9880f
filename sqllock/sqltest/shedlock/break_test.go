package shedlock

import (
	"testing"
	"time"
)

// A claim that is broken while it waits may get the lock just before its end is noted. The lock is free then.
func TestBrokenWhileItTakes(t *testing.T) {
	t.Parallel()
	s := all[1]
	addr := s.begin(t).Addr
	d := s.open(t, addr)
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	p.lock(t, s, "job", atMost)
	waiter := claimOf("job")
	waiter.Queue = true
	request(t, d, waiter)
	p.free(t, s, "job")
	for _, statement := range []string{
		`CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			UPDATE shedlock SET lock_until = timezone('utc', clock_timestamp()) + interval '1 minute',
			locked_by = 'holdfast:' || encode(OLD.id, 'escape') || '@';
			RETURN NEW; END $$`,
		`CREATE TRIGGER take BEFORE UPDATE ON holdfast_guests FOR EACH ROW
			WHEN (OLD.state = 'waits' AND NEW.state = 'ended') EXECUTE FUNCTION take()`,
	} {
		if _, err := p.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Break(t.Context(), "job", waiter.ID); err != nil {
		t.Fatal(err)
	}
	if !p.lock(t, s, "job", atMost) {
		t.Error("a lock is taken that a claim got while it was broken")
	}
}
