package flashsale

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Columns are the heads of what Row returns.
var Columns = []string{"lock", "processes", "sold", "left", "oversold", "seconds", "requests", "wait p50", "wait p99",
	"fairness"}

// Row is a result as people read it.
func (r Result) Row() []string {
	name := map[Lock]string{NoLock: "none", Local: "a mutex in each process", Holdfast: "Holdfast on " +
		r.Backend}[r.Lock]
	switch {
	case r.Missing != "":
		return []string{name, "not run: " + r.Missing}
	case r.Err != "":
		return []string{name, "failed: " + r.Err}
	}
	return []string{
		name, fmt.Sprint(r.Processes), fmt.Sprint(r.Sold), fmt.Sprint(r.Left), fmt.Sprint(r.Oversold),
		fmt.Sprintf("%.2f", r.Seconds),
		r.requests(), milliseconds(r.WaitP50), milliseconds(r.WaitP99), fmt.Sprintf("%.2f", r.Fairness),
	}
}

func (r Result) requests() string {
	if r.Requests < 0 {
		return "-"
	}
	return fmt.Sprint(r.Requests)
}

func milliseconds(ms float64) string {
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// Print writes results as a table, or as one in Markdown.
func Print(w io.Writer, results []Result, markdown bool) error {
	if markdown {
		return printMarkdown(w, results)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line(t, Columns, "", "\t")
	for _, r := range results {
		line(t, r.Row(), "", "\t")
	}
	return t.Flush()
}

func printMarkdown(w io.Writer, results []Result) error {
	line(w, Columns, "| ", " | ")
	if _, err := fmt.Fprintln(w, "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|"); err != nil {
		return err
	}
	for _, r := range results {
		line(w, r.Row(), "| ", " | ")
	}
	return nil
}

func line(w io.Writer, cells []string, start, between string) {
	fmt.Fprint(w, start)
	for _, c := range cells {
		fmt.Fprint(w, c, between)
	}
	fmt.Fprintln(w)
}
