//go:build unix && !linux

package pgroup

import "syscall"

func open(int) int { return -1 }

func signal(int, syscall.Signal) (err error, can bool) { return nil, false }
