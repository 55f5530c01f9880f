package report

import (
	"slices"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// A comparison is one measurement of all variants, on one scale.
type comparison struct {
	Title string
	Bars  []measured
}

// HasLimit reports whether there is a line where harm begins.
func (c comparison) HasLimit() bool {
	return slices.ContainsFunc(c.Bars, func(b measured) bool { return b.Limit > 0 })
}

// Places are in percent of the width.
type measured struct {
	Name, Text   string
	Within, Over float64 // how long the parts are that are no harm, and that are
	Limit        float64 // where harm begins; zero if it does from the beginning
	Harm         string
}

// compare draws what several variants have measured, and where it is harm.
func compare(r experiment.Report) (list []comparison) {
	var names []string
	found := make(map[string][]measurement)
	for _, v := range r.Variants {
		for _, n := range v.Numbers {
			if n.Limit == nil {
				continue
			}
			if found[n.Name] == nil {
				names = append(names, n.Name)
			}
			found[n.Name] = append(found[n.Name], measurement{v.Title, n, *n.Limit})
		}
	}
	for _, name := range names {
		if len(found[name]) > 1 {
			list = append(list, comparison{Title: name, Bars: onOneScale(found[name])})
		}
	}
	return list
}

// A measurement is a variant's.
type measurement struct {
	variant string
	experiment.Number
	limit float64
}

func onOneScale(all []measurement) (bars []measured) {
	most := 0.0
	for _, m := range all {
		most = max(most, m.Value, m.limit)
	}
	if most == 0 {
		most = 1
	}
	for _, m := range all {
		b := measured{Name: m.variant, Text: m.Text(), Within: 100 * min(m.Value, m.limit) / most,
			Limit: 100 * m.limit / most}
		if m.Value > m.limit {
			over := m.Number
			over.Value -= m.limit
			b.Over, b.Harm = 100*over.Value/most, over.Text()+" too many"
			if m.Unit == "s" {
				b.Harm = over.Text() + " too much"
			}
		}
		bars = append(bars, b)
	}
	return bars
}
