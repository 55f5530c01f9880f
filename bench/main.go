// Command bench measures Holdfast against other locks on servers that it starts, and prints one table for each engine.
package main

import (
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

// longest bounds a run, should something hang.
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
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(sizesFor(*quick), *engines, *only)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	reports, err := measureAll(ctx, chosen, stderr)
	if err != nil {
		return err
	}
	return show(reports, stdout, *asJSON, *asMarkdown)
}

func sizesFor(quick bool) sizes {
	if quick {
		return short
	}
	return full
}

// choose returns the plans for the engines whose names match, with the cases whose names match.
func choose(s sizes, engines, only string) (chosen []plan, err error) {
	engine, err := regexp.Compile(engines)
	if err != nil {
		return nil, err
	}
	one, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for _, p := range plans(s) {
		if p.only = one; engine.MatchString(p.name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no engine matches %q", engines)
	}
	return chosen, nil
}

// measureAll carries out each plan on a server of its own, one after the other.
func measureAll(ctx context.Context, chosen []plan, progress io.Writer) (reports []*report.Report, err error) {
	for _, p := range chosen {
		err := engine.Outside(ctx, func(t testing.TB) error {
			r, err := p.measure(ctx, p.start(t), progress)
			reports = append(reports, r)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return reports, nil
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
