package main

import (
	"os"
	"syscall"
)

// forwarded are the signals that the command gets from us: they end it.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// shellCommand is how a shell is given a command.
func shellCommand(script string) []string { return []string{"cmd", "/C", script} }
