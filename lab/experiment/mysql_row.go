package experiment

import (
	"crypto/rand"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func onDatabase() []Experiment {
	return []Experiment{mysqlOrphan(), mysqlReaper(), mysqlNoIndex(), mysqlDeadlock()}
}

func mysqlOrphan() Experiment {
	return Experiment{
		Name:     "mysql-orphan",
		Question: "Who deletes the row of an owner that has crashed?",
		Needs:    "MariaDB",
		Code:     "classic/mysql_row.go",
		Variants: []Variant{
			{Title: "A row with a unique key", Run: func(s *Trial) { orphan(s, lockRow) }},
			{Title: "A row with a count", Run: func(s *Trial) { orphan(s, lockCountedRow) }},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) { crashOfOurs(s, s.mariaDB().url) }},
		},
		Answer: afterCrash,
	}
}

// orphan kills an owner, and fails if nothing will ever delete its row.
func orphan(s *Trial, lock lockKind) {
	db := s.mariaDB()
	s.Must(classic.MakeRowTable(s.Context(), db.DB))
	a := s.Participant("A", task{Lock: lock, Source: db.source})
	a.Lock()
	a.Crash()
	b := classic.UniqueRow{DB: db.DB, Type: lockKey, Owner: "B"}
	ours, err := b.TryLock(s.Context())
	s.Must(err)
	if !ours {
		s.Wait("B")
		s.Mark("B", recording.Noted, "it asks again and again, for ever")
	}
	s.Result(!ours, "the row stays, and nobody can lock until a person deletes it")
}

func mysqlReaper() Experiment {
	return Experiment{
		Name:     "mysql-reaper",
		Question: "What does a reaper delete that removes old locks?",
		Needs:    "MariaDB",
		Code:     "classic/mysql_row.go",
		Variants: []Variant{
			{Title: "A row, and a reaper of rows that are old", Run: reapLiving},
			{Title: "Holdfast, and holdfast reap", Ours: true, Run: reapOurs},
		},
		Answer: togetherOrNot,
	}
}

// reapLiving has a reaper come while an owner works for longer than anybody thought.
func reapLiving(s *Trial) {
	db := s.mariaDB()
	s.Must(classic.MakeRowTable(s.Context(), db.DB))
	a := classic.UniqueRow{DB: db.DB, Type: lockKey, Owner: rand.Text()}
	b := classic.UniqueRow{DB: db.DB, Type: lockKey, Owner: rand.Text()}
	s.mustLock(a.TryLock)
	endA := s.Hold("A")
	s.mustSoon(func() bool {
		n, err := classic.ReapRows(s.Context(), db.DB, 200*time.Millisecond)
		s.Must(err)
		return n > 0
	})
	s.Mark("reaper", recording.Noted, "A's row is old; it deletes it")
	s.mustLock(b.TryLock)
	s.WorkFor("B", 50*time.Millisecond) // beside A
	endA()
	s.Exclusive()
}

// reapOurs has Holdfast's reaper come while an owner works, that removes all that nobody has used for no time at all.
func reapOurs(s *Trial) {
	db := s.mariaDB()
	lease, end := s.lock("A", s.Client(db.url))
	d, err := driver.Open(s.Context(), db.url)
	s.Must(err)
	defer d.Close()
	_, err = driver.Reap(s.Context(), d, time.Nanosecond)
	s.Must(err)
	s.Mark("reaper", recording.Noted, "it removes what nobody uses; A renews its claim, and so uses it")
	if _, ours := s.try(s.Client(db.url)); ours {
		s.Work("B")
		s.Result(true, "the reaper has deleted the lock of an owner that lives")
		return
	}
	s.Mark("B", recording.Noted, "it is told that the lock is taken")
	s.Must(lease.Check(s.Context()))
	end()
	s.Must(lease.Release(s.Context()))
	s.Exclusive()
}
