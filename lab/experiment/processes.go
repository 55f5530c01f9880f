package experiment

import (
	"time"

	"github.com/holdfast-go/holdfast/lab/flashsale"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

func processes() Experiment {
	return Experiment{
		Name:     "local-lock",
		Question: "Does a lock in each process keep several processes apart?",
		Variants: []Variant{
			{Title: "No lock", Run: func(s *Trial) { sell(s, flashsale.NoLock) }},
			{Title: "A mutex in each of 4 processes", Run: func(s *Trial) { sell(s, flashsale.Local) }},
			{Title: "Holdfast on a file", Ours: true, Run: func(s *Trial) { sell(s, flashsale.Holdfast) }},
		},
	}
}

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
	s.Number("sold", float64(r.Sold), "")
	s.Number("time", r.Seconds, "s")
	s.Chart(Chart{Title: "Stock and sales", Y: "pieces", Bars: true, Limit: float64(r.Stock),
		Points: []string{"stock", "sold"},
		Lines:  []Series{{"pieces", []float64{float64(r.Stock), float64(r.Sold)}}}})
	s.Result(!r.Exact(), "%d of a stock of %d were sold", r.Sold, r.Stock)
}
