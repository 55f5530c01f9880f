package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast/driver"
)

// A duration is the value of a flag: like 30s or 1h30m, as Go has them, and with days in front, like 1d or 1d12h.
type duration struct{ d *time.Duration }

// durationVar registers a flag for a duration.
func durationVar(flags *pflag.FlagSet, d *time.Duration, name, short string, usual time.Duration, help string) {
	*d = usual
	flags.VarP(duration{d}, name, short, help)
}

func (v duration) String() string {
	if v.d == nil || *v.d == 0 { // help leaves out a default of "0", which the texts of flags tell better
		return "0"
	}
	return v.d.String()
}

// Type is what the help calls the value.
func (v duration) Type() string { return "duration" }

func (v duration) Set(s string) (err error) {
	*v.d, err = driver.ParseDuration(s)
	return err
}
