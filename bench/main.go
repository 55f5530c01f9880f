// Command bench measures Holdfast against other locks on servers that it starts, and prints one table for each engine.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/page"
	"github.com/holdfast-go/holdfast/bench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// longest bounds a run on one engine, should something hang.
const longest = 40 * time.Minute

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("short", false, "run every case once, in seconds: the counts are right, the times say little")
	only := flags.String("only", "", "run only the cases whose name matches this regular expression")
	engines := flags.String("engine", "", "measure only the engines whose name matches this regular expression: "+
		"redis, redlock, etcd, zookeeper, mariadb, postgres")
	asJSON := flags.Bool("json", false, "print JSON, with the value of every round")
	asMarkdown := flags.Bool("markdown", false, "print Markdown")
	save := flags.Bool("save", false, "also store each engine's run in "+stored+", in place of its last one")
	pinned := flags.String("pin", "", "keep the client and the server on a core each (apart) or both on one "+
		"(together), and measure what nobody waits for")
	speed := flags.String("page", "", "measure nothing, and write this file, docs/speed.md, with the runs in "+stored)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *speed != "" {
		return writePage(*speed)
	}
	if *save && (*quick || *only != "") {
		return errors.New("-save stores whole runs: leave out -short and -only")
	}
	pin, err := engine.PinNamed(*pinned)
	if err != nil {
		return err
	}
	chosen, err := choose(sizesFor(*quick), *engines, *only, pin)
	if err != nil {
		return err
	}
	keep := func(*report.Report) error { return nil }
	if *save {
		keep = func(r *report.Report) error { return r.Save(stored) }
	}
	reports, err := measureAll(ctx, chosen, stderr, keep)
	if err != nil {
		return err
	}
	return show(reports, stdout, *asJSON, *asMarkdown)
}

// stored is the folder of the last run on each engine, seen from the root of the repository.
const stored = "bench/results"

func writePage(name string) error {
	var text bytes.Buffer
	if err := page.Write(&text, stored); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

func sizesFor(quick bool) sizes {
	if quick {
		return short
	}
	return full
}

// choose returns the plans for the engines whose names match, with the cases whose names match.
func choose(s sizes, engines, only string, pin engine.Pin) (chosen []plan, err error) {
	wanted, err := regexp.Compile(engines)
	if err != nil {
		return nil, err
	}
	one, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for _, p := range plans(s) {
		if p.only, p.pin = one, pin; wanted.MatchString(p.name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no engine matches %q", engines)
	}
	return chosen, nil
}

// measureAll carries out each plan on a server of its own, one after the other, and has each report kept at once.
func measureAll(ctx context.Context, chosen []plan, progress io.Writer, keep func(*report.Report) error,
) (reports []*report.Report, err error) {
	for _, p := range chosen {
		r, err := p.measureAlone(ctx, progress)
		if err == nil {
			err = keep(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// measureAlone carries out the plan on a server of its own.
func (p plan) measureAlone(ctx context.Context, progress io.Writer) (r *report.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = engine.Outside(ctx, func(t testing.TB) error {
		e, err := p.pin.Start(func() *engine.Engine { return p.start(t) })
		if err != nil {
			return err
		}
		r, err = p.measure(ctx, e, progress)
		return err
	})
	return r, err
}

func show(reports []*report.Report, w io.Writer, asJSON, asMarkdown bool) error {
	if asJSON {
		return report.JSON(w, reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if asMarkdown {
			r.Markdown(w)
		} else {
			r.Text(w)
		}
	}
	return nil
}
