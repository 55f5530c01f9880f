package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A Result is what became of a store. Times are in nanoseconds in JSON.
type Result struct {
	Store   string        `json:"store"`
	Names   int           `json:"names"`
	Mishaps []string      `json:"mishaps"`
	Fresh   Measure       `json:"fresh"`
	Aged    Measure       `json:"aged"`
	Again   int64         `json:"again"` // requests that were made again
	Rate    float64       `json:"names_per_second"`
	Took    time.Duration `json:"took_ns"` // with the mishaps
}

// A Measure is how large and how fast a store is.
type Measure struct {
	Size int64         `json:"size_bytes"`
	P50  time.Duration `json:"p50_ns"` // of a cycle: to take a lock that is free, and give it back
	P99  time.Duration `json:"p99_ns"`
}

// measure uses new names, one after the other, over one connection.
func (d *day) measure(when string) Measure {
	client := d.clients[0]
	took := make([]time.Duration, d.plan.Cycles)
	for i := range took {
		c := claim(fmt.Sprint(when, "/", i), longTTL)
		began := time.Now()
		c.Token = d.take(client, c)
		if err := client.Release(d.t.Context(), c); err != nil {
			d.t.Errorf("%s: release: %v", d.store.Name(), err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return Measure{Size: d.store.Size(d.t), P50: took[len(took)/2], P99: took[len(took)*99/100]}
}

// WriteTable writes results for people.
func WriteTable(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "store\tnames\tnames/s\ttook\tsize fresh\taged\tp50 fresh\taged\tp99 fresh\taged\t")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%v\t%s\t%s\t%v\t%v\t%v\t%v\t\n",
			r.Store, r.Names, r.Rate, r.Took.Round(time.Second), megabytes(r.Fresh.Size), megabytes(r.Aged.Size),
			round(r.Fresh.P50), round(r.Aged.P50), round(r.Fresh.P99), round(r.Aged.P99))
	}
	return t.Flush()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// WriteJSON writes a line for each result.
func WriteJSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	for _, r := range results {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
