//go:build unix

package main

import (
	"os"
	"syscall"
)

// forwarded are the signals that the command gets from us.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// shellCommand is how a shell is given a command.
func shellCommand(script string) []string { return []string{"/bin/sh", "-c", script} }
