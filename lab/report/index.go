package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// An index is what the template of the index shows.
type index struct {
	Date    string // when the first was run
	Summary string
	Groups  []group
}

// A group is of experiments that belong together.
type group struct {
	Name  string
	Pages []page
}

func newIndex(reports []experiment.Report) (x index) {
	var first time.Time
	well, seconds := 0, 0.0
	for _, r := range reports {
		x.add(page{Report: r, Verdict: verdictOf(r)})
		if first.IsZero() || !r.At.IsZero() && r.At.Before(first) {
			first = r.At
		}
		if r.Missing == "" && r.Complaint() == "" {
			well++
		}
		seconds += r.Seconds
	}
	x.Date = day(first)
	x.Summary = fmt.Sprintf("%d of %d as they should be, in %.0f s", well, len(reports), seconds)
	return x
}

// add adds a page to its group, which may be a new one.
func (x *index) add(p page) {
	name := cmp.Or(p.Group, "Others")
	for i := range x.Groups {
		if x.Groups[i].Name == name {
			x.Groups[i].Pages = append(x.Groups[i].Pages, p)
			return
		}
	}
	x.Groups = append(x.Groups, group{name, []page{p}})
}
