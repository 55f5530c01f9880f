//go:build !linux

package boottime

func newKernelAlarm() Alarm { return nil }
