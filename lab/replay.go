package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/report"
)

func replay() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Draw the pages of runs that were recorded: what run and all print with --json",
		Example: "  lab all --json > runs.json\n" +
			"  lab replay runs.json --out /tmp/pages",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			reports, err := recorded(args[0])
			if err != nil {
				return err
			}
			return report.Write(out, reports)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write a page for each experiment, and an index, into this folder")
	_ = c.MarkFlagRequired("out")
	return c
}

// recorded reads reports from a file.
func recorded(name string) (reports []experiment.Report, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&reports); err != nil {
		return nil, fmt.Errorf("%s is not what --json prints: %w", name, err)
	}
	return reports, nil
}
