package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/driver"
)

const doctorHelp = `Doctor takes and releases a lock of its own on the backend. It examines how the server is set up, and what others
could read or change on the network path to it. It reports what it found, and what to do where a guarantee is weaker
than it could be.

Exit codes:
  0    all is well
  1    there are warnings: a guarantee is weaker than it could be
  2    locks may be lost or held twice, or the backend cannot be used at all` + helpUsage

// doctorVerb is holdfast doctor.
func (a *app) doctorVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor [URL]",
		Short: "Check that a backend is reachable, works, and is set up safely",
		Long:  doctorHelp,
		Args:  takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.backend.take(args); err != nil {
				return err
			}
			return a.examine(c.Context())
		},
	}
	a.backend.register(c)
	return c
}

// examine is the whole visit. Its exit code is the worst level among the findings.
func (a *app) examine(ctx context.Context) error {
	d, err := a.diagnose(ctx)
	if err != nil {
		return err
	}
	if err := a.printDiagnosis(d); err != nil {
		return err
	}
	return ended(int(d.worst()))
}

// A diagnosis is what was found, as it is shown.
type diagnosis struct {
	Backend  string    `json:"backend"` // its URL, without its password
	Verdict  string    `json:"verdict"`
	Findings []finding `json:"findings"`

	levels []driver.Level
}

// A finding is one fact.
type finding struct {
	Level  string `json:"level"`
	Fact   string `json:"fact"`
	Advice string `json:"advice,omitempty"`
}

// levelNames are the names of levels, as they are shown.
var levelNames = map[driver.Level]string{driver.Fine: "ok", driver.Warning: "warning", driver.Unsafe: "unsafe"}

func (d *diagnosis) add(findings ...driver.Finding) {
	for _, f := range findings {
		d.Findings = append(d.Findings, finding{Level: levelNames[f.Level], Fact: f.Fact, Advice: f.Advice})
		d.levels = append(d.levels, f.Level)
	}
	d.Verdict = levelNames[d.worst()]
}

func (d *diagnosis) worst() driver.Level {
	worst := driver.Fine
	for _, l := range d.levels {
		worst = max(worst, l)
	}
	return worst
}

// checkTime is how long an examination may take: what a server does not answer then is a finding, too.
const checkTime = 30 * time.Second

// diagnose examines the backend. Only a wrong command line is an error: all else is a finding.
func (a *app) diagnose(ctx context.Context) (*diagnosis, error) {
	rawURL, shown, err := a.backend.locate()
	var s *store
	if err == nil {
		s, err = a.backend.open(ctx)
	}
	if e, ok := errors.AsType[*exit](err); ok && e.code == exitUsage {
		return nil, err
	}
	d := &diagnosis{Backend: cmp.Or(shown, "default backend")}
	u, bad := driver.ParseURL(rawURL)
	if bad != nil {
		u = new(url.URL)
	}
	d.add(a.backend.examineWay(u)...)
	if err != nil {
		d.add(driver.Finding{Level: driver.Unsafe, Fact: "the backend cannot be used: " + unasked(err).Error(),
			Advice: cmp.Or(trustAdvice(u, err), answerAdvice(err),
				"start it, or correct the URL; no lock can be taken until then")})
		return d, nil
	}
	defer s.abandon(ctx)
	d.add(examineLogin(u)...)
	d.add(s.probe(ctx)...)
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	findings, err := s.Check(ctx)
	d.add(findings...)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		d.add(driver.Finding{Level: driver.Warning, Fact: "the server's settings could not be read: " + err.Error(),
			Advice: "try again as a user that may read them"})
	}
	return d, nil
}

// unasked is an error without the question whether the server is reachable, which the advice of doctor answers.
func unasked(err error) error {
	if e, ok := errors.AsType[*exit](err); ok && e.advice == askReachable {
		return e.err
	}
	return err
}

// answerAdvice is for a backend that has answered, so that it need not be started; empty otherwise. What the server
// said has its own advice.
func answerAdvice(err error) string {
	if errors.Is(err, driver.ErrRefused) {
		return "mend that; no lock can be taken until then"
	}
	if _, ok := errors.AsType[*driver.ServerError](err); ok {
		return "no lock can be taken until that is over"
	}
	return ""
}

func (a *app) printDiagnosis(d *diagnosis) error {
	if a.json {
		return printJSON(a.out, d)
	}
	if _, err := fmt.Fprintf(a.out, "%s: %s\n", printable(d.Backend), d.Verdict); err != nil {
		return err
	}
	for _, f := range d.Findings {
		if _, err := fmt.Fprintf(a.out, "  %-8s %s\n", f.Level, printable(oneLine(f.Fact))); err != nil {
			return err
		}
		if f.Advice == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.out, "           %s\n", printable(f.Advice)); err != nil {
			return err
		}
	}
	return nil
}
