package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/flashsale"
	"github.com/holdfast-go/holdfast/lab/report"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

const all = "all"

type saleFlags struct {
	plan           flashsale.Plan
	lock           string
	backend        string
	database       string
	json, markdown bool
	picture        string
}

func flashSale() *cobra.Command {
	var f saleFlags
	c := &cobra.Command{
		Use:   "flashsale",
		Short: "Sell a small stock to many buyers at once, from several processes, with and without locks",
		Long: "Sell a small stock to many buyers at once, from several processes. Each looks at the stock, pays, and " +
			"writes what is\n" +
			"left. Without a lock more is sold than there is, and with a lock in each process too.\n\n" +
			"Servers are started if they are installed (make servers). The exit code is 1 if a sale went otherwise " +
			"than its lock\n" +
			"makes it go: an exact sale without a lock is as wrong as an inexact one with Holdfast.",
		Example: "  lab flashsale\n  lab flashsale --lock holdfast --backend all\n  lab flashsale --backend " +
			"redis://localhost:6379 --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.IntVar(&f.plan.Buyers, "buyers", 1500, "how many want to buy")
	flags.IntVar(&f.plan.Stock, "stock", 100, "how many can")
	flags.IntVar(&f.plan.Processes, "processes", 4, "from how many processes")
	flags.DurationVar(&f.plan.Pay, "pay", time.Millisecond,
		"what a purchase takes between looking at the stock and writing it")
	flags.StringVar(&f.lock, "lock", all, "what keeps buyers apart: none, local, holdfast or all")
	flags.StringVar(&f.backend, "backend", "sqlite", "where Holdfast keeps the lock: a name like redis, a URL, or all")
	flags.StringVar(&f.database, "database", "sqlite", "where the stock is: sqlite, mariadb or postgresql")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.markdown, "markdown", false, "print a table in Markdown")
	flags.StringVar(&f.picture, "picture", "", "write a picture of what was sold to this file, as SVG")
	return c
}

func (f *saleFlags) run(c *cobra.Command) error {
	plans, err := f.plans()
	if err != nil {
		return err
	}
	var results []flashsale.Result
	for _, p := range plans {
		progress := progressOf(c.ErrOrStderr(), p)
		results = append(results, flashsale.Hold(c.Context(), p, progress.show))
		progress.clear()
		if err := c.Context().Err(); err != nil {
			return err
		}
	}
	if err := f.print(c.OutOrStdout(), results); err != nil {
		return err
	}
	return errors.Join(f.draw(results), complain(results))
}

// draw writes the picture, if somebody wants it.
func (f *saleFlags) draw(results []flashsale.Result) error {
	if f.picture == "" {
		return nil
	}
	c := experiment.Chart{Title: fmt.Sprintf("Sold, of a stock of %d", f.plan.Stock), Y: "pieces", Bars: true,
		Limit: float64(f.plan.Stock)}
	var sold []float64
	for _, r := range results {
		if r.Missing == "" && r.Err == "" {
			c.Points = append(c.Points, cmp.Or(r.Backend,
				map[flashsale.Lock]string{flashsale.NoLock: "no lock", flashsale.Local: "local locks"}[r.Lock]))
			sold = append(sold, float64(r.Sold))
		}
	}
	c.Lines = []experiment.Series{{Name: "sold", Values: sold}}
	return report.Picture(f.picture, c)
}

// plans are the sales that the flags ask for.
func (f *saleFlags) plans() (plans []flashsale.Plan, err error) {
	if f.plan.Database, err = flashsale.InDatabase(f.database); err != nil {
		return nil, err
	}
	backends, err := backends(f.backend)
	if err != nil {
		return nil, err
	}
	for _, lock := range []flashsale.Lock{flashsale.NoLock, flashsale.Local} {
		if f.lock == all || f.lock == string(lock) {
			f.plan.Lock = lock
			plans = append(plans, f.plan)
		}
	}
	for _, b := range backends {
		if f.lock == all || f.lock == string(flashsale.Holdfast) {
			f.plan.Lock, f.plan.Backend = flashsale.Holdfast, b
			plans = append(plans, f.plan)
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("nobody knows the lock %q; there are none, local, holdfast and all", f.lock)
	}
	return plans, nil
}

// backends are those with a name, at a URL, or all.
func backends(name string) ([]testbed.Backend, error) {
	if name == all {
		return testbed.Backends, nil
	}
	b, err := testbed.Named(name)
	if strings.Contains(name, ":") {
		b, err = testbed.At(name)
	}
	return []testbed.Backend{b}, err
}

func (f *saleFlags) print(w io.Writer, results []flashsale.Result) error {
	if f.json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(results)
	}
	return flashsale.Print(w, results, f.markdown)
}

// complain is an error if a sale went otherwise than expected.
func complain(results []flashsale.Result) (err error) {
	for _, r := range results {
		if !r.AsExpected() {
			err = errors.Join(err, fmt.Errorf("the sale with the lock %s did not go as it should: %s",
				r.Lock, cmp.Or(r.Err, fmt.Sprintf("sold %d of %d, %d left", r.Sold, r.Stock, r.Left))))
		}
	}
	return err
}

// progress is a line that changes, on a terminal.
type progress struct {
	w    io.Writer
	plan flashsale.Plan
}

func progressOf(w io.Writer, p flashsale.Plan) progress {
	if !isTerminal(w) {
		w = io.Discard
	}
	return progress{w, p}
}

func (p progress) show(served int) {
	if served%10 == 0 {
		fmt.Fprintf(p.w, "\r%s %s: %d of %d buyers served ", p.plan.Lock, p.plan.Backend.Name, served, p.plan.Buyers)
	}
}

func (p progress) clear() { fmt.Fprint(p.w, "\r\x1b[K") }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
