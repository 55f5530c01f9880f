package quorum

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// Check examines each of the nodes, and the quorum that they make, as [driver.Checker] says.
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if d.lifetime.Err() != nil {
		return nil, driver.ErrClosed
	}
	if brief {
		return d.notable(ctx), ctx.Err()
	}
	findings := []driver.Finding{d.checkNumber()}
	away := 0
	for _, n := range d.nodes {
		found, err := identified(ctx, n, mostPatience, func(ctx context.Context, n *node) ([]driver.Finding, error) {
			return use(ctx, n, func(nd driver.Driver) ([]driver.Finding, error) { return driver.Check(ctx, nd, false) })
		})
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			away++
			findings = append(findings, driver.Finding{
				Level: driver.Warning, Fact: "it was not possible to examine " + err.Error(),
				Advice: "bring it back: the fewer servers there are, the fewer may fail",
			})
		}
		for _, f := range found {
			f.Fact = n.what + ": " + f.Fact
			findings = append(findings, f)
		}
	}
	for _, twin := range twins(d.nodes) {
		findings = append(findings, driver.Finding{
			Level:  driver.Unsafe,
			Fact:   twin.Error(),
			Advice: "name each server once: its vote counts once, so fewer servers may fail than names say",
		})
	}
	if away > d.spare() {
		findings = append(findings, driver.Finding{
			Level:  driver.Unsafe,
			Fact:   fmt.Sprintf("%d of %d servers cannot be examined", away, len(d.nodes)),
			Advice: "without a majority nobody acquires a lock, and holders lose theirs",
		})
	}
	return append(findings, d.notable(ctx)...), ctx.Err()
}

// spare is how many nodes may fail.
func (d *Driver) spare() int { return len(d.nodes) - majority(len(d.nodes)) }

func (d *Driver) checkNumber() driver.Finding {
	fact := fmt.Sprintf("%d servers vote, of which %d may fail", len(d.nodes), d.spare())
	if len(d.nodes)%2 == 0 {
		return driver.Finding{
			Level:  driver.Warning,
			Fact:   fact,
			Advice: "choose an odd number: one server less may fail as many times, with less work",
		}
	}
	return driver.Finding{Fact: fact}
}
