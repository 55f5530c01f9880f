package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/child"
	"github.com/holdfast-go/holdfast/driver"
)

// actAsMain does what falls to the main process of a container or a service while no command runs: it waits for
// orphans, and tells a watchdog that it lives.
func actAsMain(ctx context.Context) (stop func()) {
	reaps, feeds := during(ctx, child.ReapOrphans), during(ctx, feedWatchdog)
	return func() { feeds(); reaps() }
}

// feedWatchdog tells the service manager again and again that this process lives, if it asks for that. A candidate that
// has lost the lead would otherwise be killed while it waits for the next one.
func feedWatchdog(ctx context.Context) {
	pause := watchdogPause()
	manager, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if pause == 0 || err != nil {
		return // nobody asks
	}
	defer manager.Close()
	for driver.Sleep(ctx, pause) == nil {
		_, _ = manager.Write([]byte("WATCHDOG=1")) // the next one may arrive
	}
}

// watchdogPause is how often the service manager wants to hear from this process, twice each time that it allows; zero
// if it does not.
func watchdogPause() time.Duration {
	if pid, given := os.LookupEnv("WATCHDOG_PID"); given && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	usec, err := strconv.ParseUint(os.Getenv("WATCHDOG_USEC"), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(usec) * time.Microsecond / 2
}
