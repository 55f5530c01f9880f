package driver

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"time"
)

var withDays = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-?)(\d+)d(.*)$`)
})

const day = 24 * time.Hour

// LongestDuration is the longest time that a TTL or a flag may have: a hundred years. Sums of such times do not
// overflow.
const LongestDuration = 100 * 365 * day

// ParseDuration reads a duration as [time.ParseDuration] does, and with days of 24 hours each in front: 1d, 1d12h. It
// takes none that is longer than [LongestDuration].
func ParseDuration(s string) (time.Duration, error) {
	d, err := parseDuration(s)
	if err == nil && (d > LongestDuration || d < -LongestDuration) {
		return 0, tooLong(s)
	}
	return d, err
}

func tooLong(s string) error {
	return fmt.Errorf("%q is too long; use %dd or less", s, LongestDuration/day)
}

func parseDuration(s string) (time.Duration, error) {
	parts := withDays().FindStringSubmatch(s)
	if parts == nil {
		d, err := time.ParseDuration(s)
		if _, number := strconv.ParseFloat(s, 64); err != nil && number == nil {
			return 0, fmt.Errorf("%q has no unit; write %ss for seconds, or %sm for minutes", s, s, s)
		}
		return d, err
	}
	days, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || days > math.MaxInt64/int64(day) {
		return 0, tooLong(s)
	}
	sum := time.Duration(days) * day
	if parts[3] != "" {
		rest, err := time.ParseDuration(parts[3])
		if err != nil || rest < 0 || parts[3][0] == '+' {
			return 0, fmt.Errorf("%q should be like 1d or 1d12h30m", s)
		}
		if sum += rest; sum < 0 {
			return 0, tooLong(s)
		}
	}
	if parts[1] == "-" {
		sum = -sum
	}
	return sum, nil
}
