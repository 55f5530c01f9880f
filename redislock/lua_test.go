package redislock

import (
	"strings"
	"testing"
)

// Scripts are sent without anything that is there for readers alone.
func TestScriptsAreSentWithoutComments(t *testing.T) {
	s := loadScripts(Options{}, retention{})
	for name, script := range map[string]script{
		"request": s.request, "release": s.release, "batch": s.batch, "propose": s.propose, "queue": s.queue,
	} {
		body := strings.SplitAfter(script.text, "\n")
		if len(body) < 10 {
			t.Errorf("%s has %d lines", name, len(body))
		}
		for _, line := range body {
			if strings.HasPrefix(line, "-- ") || strings.TrimLeft(line, " \t\n") != line {
				t.Errorf("%s is sent with the line %q", name, line)
			}
		}
	}
}
