package quorum_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// An examinable part can be examined while it answers.
type examinable struct{ *part }

func (p examinable) Check(ctx context.Context, _ bool) ([]driver.Finding, error) {
	_, err := p.reach(ctx)
	return nil, err
}

// The examination names each server that is away, and says that nobody gets a lock only where so many are.
func TestCheckOfServersThatAreAway(t *testing.T) {
	for away := range 6 {
		inTime(t, 5, func(t *testing.T, ps parts) {
			var nodes []driver.Driver
			for _, p := range ps {
				nodes = append(nodes, examinable{p})
			}
			d := quorumOf(t, nodes, nil)
			for _, p := range ps[:away] {
				p.hang()
				defer p.goOn()
			}
			findings, err := driver.Check(context.Background(), d, false)
			if err != nil {
				t.Fatal(err)
			}
			named, short := 0, false
			for _, f := range findings {
				if strings.Contains(f.Fact, "it was not possible to examine") {
					named++
				}
				short = short || f.Level == driver.Unsafe && f.Advice != "" &&
					strings.Contains(f.Fact, "of 5 servers cannot be examined")
			}
			if named != away || short != (away > 2) {
				t.Errorf("with %d away: %+v", away, findings)
			}
		})
	}
}

// An even number of servers costs one more and may fail no more often.
func TestCheckOfAnEvenNumber(t *testing.T) {
	for n, want := range map[int]driver.Level{3: driver.Fine, 4: driver.Warning, 5: driver.Fine} {
		inTime(t, n, func(t *testing.T, ps parts) {
			findings, err := driver.Check(context.Background(), ps.client(t), false)
			votes := func(f driver.Finding) bool { return strings.Contains(f.Fact, "servers vote") }
			i := slices.IndexFunc(findings, votes)
			if err != nil || i < 0 {
				t.Fatalf("of %d servers: %+v, %v", n, findings, err)
			}
			if f := findings[i]; f.Level != want || (f.Advice != "") != (want == driver.Warning) {
				t.Errorf("of %d servers: %+v", n, f)
			}
		})
	}
}
