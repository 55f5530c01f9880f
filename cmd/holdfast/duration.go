package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// A duration is the value of a flag: like 30s or 1h30m, as Go has them, and with days in front, like 1d or 1d12h.
type duration struct{ d *time.Duration }

// durationVar registers a flag for a duration.
func durationVar(flags *pflag.FlagSet, d *time.Duration, name, short string, usual time.Duration, help string) {
	*d = usual
	flags.VarP(duration{d}, name, short, help)
}

func (v duration) String() string {
	if v.d == nil { // pflag asks so for what a flag is without a default
		return "0s"
	}
	return v.d.String()
}

// Type is what the help calls the value.
func (v duration) Type() string { return "duration" }

func (v duration) Set(s string) (err error) {
	*v.d, err = parseDuration(s)
	return err
}

var withDays = regexp.MustCompile(`^(-?)(\d+)d(.*)$`)

const day = 24 * time.Hour

// parseDuration reads a duration that may begin with days of 24 hours each.
func parseDuration(s string) (time.Duration, error) {
	parts := withDays.FindStringSubmatch(s)
	if parts == nil {
		return time.ParseDuration(s)
	}
	days, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || days > math.MaxInt64/int64(day) {
		return 0, fmt.Errorf("%q is too long", s)
	}
	sum := time.Duration(days) * day
	if parts[3] != "" {
		rest, err := time.ParseDuration(parts[3])
		if err != nil || rest < 0 || parts[3][0] == '+' {
			return 0, fmt.Errorf("%q should be like 1d or 1d12h30m", s)
		}
		if sum += rest; sum < 0 {
			return 0, fmt.Errorf("%q is too long", s)
		}
	}
	if parts[1] == "-" {
		sum = -sum
	}
	return sum, nil
}
