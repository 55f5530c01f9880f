package experiment

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/lab/flashsale"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

func processes() Experiment {
	return Experiment{
		Name:     "local-lock",
		Question: "Does a lock in each process keep several processes apart?",
		Code:     "flashsale/shop.go",
		Variants: []Variant{
			{Title: "No lock", Run: func(s *Trial) { sell(s, flashsale.NoLock) }},
			{Title: "A mutex in each of 4 processes", Run: func(s *Trial) { sell(s, flashsale.Local) }},
			{Title: "Holdfast on a file", Ours: true, Run: func(s *Trial) { sell(s, flashsale.Holdfast) }},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("The shop sold %s pieces that it did not have; with Holdfast %s.",
				none(r.most(false, oversold)), none(r.most(true, oversold)))
		},
	}
}

const oversold = "sold without being there"

// sell holds a flash sale, and fails if more was sold than there was.
func sell(s *Trial, lock flashsale.Lock) {
	sqlite, err := testbed.Named("SQLite")
	s.Must(err)
	r := flashsale.Hold(s.Context(), flashsale.Plan{
		Buyers: s.crowd(1500, 300), Stock: s.crowd(100, 40), Processes: 4, Pay: time.Millisecond,
		Lock: lock, Backend: sqlite, Database: flashsale.Databases[0],
	}, func(int) {})
	if r.Err != "" {
		s.Fatal(r.Err)
	}
	s.Number("stock", float64(r.Stock), "")
	s.Harm("sold", float64(r.Sold), "", float64(r.Stock))
	s.Number(oversold, float64(r.Oversold), "")
	s.Number("time", r.Seconds, "s")
	s.Result(!r.Exact(), "%d of a stock of %d were sold", r.Sold, r.Stock)
}
