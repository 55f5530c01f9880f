package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/report"
)

func list() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the experiments, with the question that each answers",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(c.OutOrStdout(), questions())
			}
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, q := range questions() {
				fmt.Fprintf(t, "%s\t%s\t%s\n", q.Name, q.Needs, q.Question)
			}
			return t.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// questions are the experiments without what they show.
func questions() (list []experiment.Report) {
	for _, e := range experiment.All() {
		list = append(list, experiment.Report{Name: e.Name, Question: e.Question, Needs: e.Needs})
	}
	return list
}

type runFlags struct {
	config experiment.Config
	json   bool
	out    string
}

func (f *runFlags) bind(c *cobra.Command) *cobra.Command {
	flags := c.Flags()
	flags.BoolVar(&f.config.Short, "short", false, "smaller crowds")
	flags.StringVar(&f.config.Backend, "backend", "",
		"URL of a server to use, like redis://localhost:6379, where one would be started; what is written there has "+
			"names that begin with lab or holdfast")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.StringVar(&f.out, "out", "", "write a page for each experiment, and an index, into this folder")
	return c
}

func run() *cobra.Command {
	var f runFlags
	var picture string
	c := f.bind(&cobra.Command{
		Use:   "run NAME",
		Short: "Run an experiment: a classic lock until it is seen to fail, and the same work with Holdfast",
		Long: "Run an experiment: a classic lock until it is seen to fail, and the same work with Holdfast.\n\n" +
			exitCodes,
		Example: "  lab run setnx-crash --out /tmp/pages",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := experiment.Named(args[0])
			if err != nil {
				return err
			}
			reports, err := f.run(c, []experiment.Experiment{e})
			if picture != "" && err == nil {
				err = photograph(c.Context(), reports[0], picture)
			}
			return err
		},
	})
	c.Flags().StringVar(&picture, "picture", "", "write a picture of the page, as Chromium shows it, to this file, "+
		"as PNG")
	return c
}

func runAll() *cobra.Command {
	var f runFlags
	return f.bind(&cobra.Command{
		Use:     "all",
		Short:   "Run all experiments",
		Long:    "Run all experiments. Those whose servers are not installed are left out.\n\n" + exitCodes,
		Example: "  lab all --out /tmp/pages",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := f.run(c, experiment.All())
			return err
		},
	})
}

const exitCodes = "The exit code is 1 if a classic lock did not fail, or Holdfast did: then nothing is shown."

// run runs experiments one after the other, for each would disturb the others.
func (f *runFlags) run(c *cobra.Command, experiments []experiment.Experiment) (reports []experiment.Report,
	wrong error) {
	for _, e := range experiments {
		r := experiment.Run(c.Context(), e, f.config)
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		reports = append(reports, r)
		if complaint := r.Complaint(); complaint != "" {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s", r.Name, complaint))
		}
		if !f.json {
			printReport(c.OutOrStdout(), r)
		}
	}
	if f.out != "" {
		wrong = errors.Join(report.Write(f.out, reports), wrong)
	}
	if f.json {
		wrong = errors.Join(printJSON(c.OutOrStdout(), reports), wrong)
	}
	return reports, wrong
}

// printReport prints what an experiment showed, variant by variant.
func printReport(w io.Writer, r experiment.Report) {
	fmt.Fprintf(w, "%s: %s\n", r.Name, r.Question)
	for _, a := range r.Variants {
		fmt.Fprintf(w, "  %-9s %s: %s\n", word(a), a.Title, a.Outcome)
		for _, n := range a.Numbers {
			fmt.Fprintf(w, "            %s: %s\n", n.Name, n.Text())
		}
	}
	switch {
	case r.Missing != "":
		fmt.Fprintf(w, "  not run: %s\n", r.Missing)
	case r.Complaint() != "":
		fmt.Fprintf(w, "  NOT AS IT SHOULD BE: %s\n", r.Complaint())
	}
	fmt.Fprintf(w, "  %.1f s\n\n", r.Seconds)
}

func word(a experiment.Record) string {
	if a.Failed {
		return "FAILS"
	}
	return "holds"
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
