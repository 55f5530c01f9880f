// Mutants breaks the drivers on purpose, one fault at a time, and fails if a driver's tests do not notice.
//
//	go run ./mutants [DRIVER[/FAULT]...]
//	go run ./mutants generate [-n 50] [-seed 1] DRIVER...
//
// Which test noticed a fault stands in mutants/noticed.txt, which a run writes anew. The next run asks that test first.
// A fault is a patch, mutants/DRIVER/FAULT.patch, whose first line says what it breaks. The start of a fault's name
// is enough. What generate makes nobody wrote: small changes, of which it tries some that a seed chooses.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"
)

// tests are the tests that must notice, for each driver.
var tests = map[string]string{
	"holdfast":     ".",
	"batch":        "./driver/batch",
	"memlock":      "./memlock/...",
	"template":     "./driver/template",
	"sqllock":      "./sqllock/sqltest",
	"sqlmysql":     "./" + tables + " ./sqllock/sqltest/mariadb",
	"sqlpostgres":  "./" + tables + " ./sqllock/sqltest/postgres",
	"sessmysql":    "./sqllock/sqltest/sessions -run=Test(Driver|Faults)/mariadb",
	"sesspostgres": "./sqllock/sqltest/sessions -run=Test(Driver|Faults|Proxies|LocksOfOther)/postgres",
	"redisforeign": "./redislock -run=Foreign",
	"shedlock":     "./sqllock/sqltest/shedlock",
	"redislock":    "./redislock/...",
	"quorum":       "./quorum ./systemtest/redlock",
	"redisgroups":  "./redislock -run=Test(FailoverLoses|Re(plicasAre|sharding|newWhile|placed)|Stale|SentinelPoll)",
	"leased":       "./internal/leased",
	"etcdlock":     "./etcdlock/...",
	"zklock":       "./zklock/...",
}

// atOnce is how many faults are tried at a time. More would make tests fail that wait for each other.
const atOnce = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, wanted []string) error {
	if len(wanted) > 0 && wanted[0] == "generate" {
		return generate(ctx, wanted[1:], os.Stdout, os.Stderr)
	}
	tree, err := snapshot(ctx)
	defer os.RemoveAll(tree)
	if err != nil {
		return err
	}
	drivers, err := plan(tree, wanted)
	if err != nil {
		return err
	}
	fmt.Printf("%-10s %-34s %8s  %s\n", "DRIVER", "FAULT", "SECONDS", "NOTICED BY")
	var errs []error
	for _, d := range drivers {
		errs = append(errs, d.run(ctx, tree), d.noticed.save("."))
	}
	return errors.Join(errs...)
}

// run tries a driver's faults, after its tests have shown that they are green without one.
func (d driver) run(ctx context.Context, tree string) error {
	start := time.Now()
	out, err := d.test(ctx, tree, 10*time.Minute)
	if err != nil {
		return fmt.Errorf("%s: without any fault, %s fails too, which proves nothing: %w\n%s", d.name, d.target, err,
			out)
	}
	alone := time.Since(start)
	d.row("(none)", alone, "")

	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, len(d.faults))
	for i, fault := range d.faults {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = d.try(ctx, tree, fault, time.Minute+3*alone)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (d driver) row(fault string, took time.Duration, noticedBy string) {
	fmt.Printf("%-10s %-34s %8.1f  %s\n", d.name, strings.TrimSuffix(fault, ".patch"), took.Seconds(), noticedBy)
}
