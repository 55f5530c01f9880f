// Command bench measures Holdfast against other locks on one Redis server that it starts, and prints one table.
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
	"time"

	"github.com/holdfast-go/holdfast/lab/bench/engine"
	"github.com/holdfast-go/holdfast/lab/bench/report"
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
const longest = 10 * time.Minute

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("short", false, "run every case once, in seconds: the counts are right, the times say little")
	only := flags.String("only", "", "run only the cases whose name matches this regular expression")
	asJSON := flags.Bool("json", false, "print JSON, with the value of every round")
	asMarkdown := flags.Bool("markdown", false, "print Markdown")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := planFor(*quick)
	var err error
	if p.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	r, err := measureRedis(ctx, p, stderr)
	if err != nil {
		return err
	}
	return show(r, stdout, *asJSON, *asMarkdown)
}

func planFor(quick bool) plan {
	if quick {
		return short
	}
	return full
}

// measureRedis carries out the plan on a server of its own.
func measureRedis(ctx context.Context, p plan, progress io.Writer) (*report.Report, error) {
	server, err := engine.StartRedis(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.measure(ctx, server, progress)
	return r, errors.Join(err, server.Close())
}

func show(r *report.Report, w io.Writer, asJSON, asMarkdown bool) error {
	switch {
	case asJSON:
		return r.JSON(w)
	case asMarkdown:
		r.Markdown(w)
	default:
		r.Text(w)
	}
	return nil
}
