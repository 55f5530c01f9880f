package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/lab/recording"
)

// A timeline is what happened to whom in a period. Places are in percent of its width, so that it fits any screen.
type timeline struct {
	View    recording.Period
	Caption string
	Rows    []row
	Ticks   []tick
	Lens    *bar   // what is shown larger beside it
	Text    string // the same for those who do not see it
}

// A row is one client's, or one server's.
type row struct {
	Who   string
	Bars  []bar
	Marks []mark
	Lanes int  // of marks, of which one begins where the one before has no room
	Fault bool // has a bar of a fault below the others
}

// Height is the row's, in the page's unit of length.
func (r row) Height() float64 { return r.marksAt() + laneHeight*float64(r.Lanes) }

// marksAt is where marks begin.
func (r row) marksAt() float64 {
	if r.Fault {
		return trackHeight + faultHeight
	}
	return trackHeight
}

const trackHeight, faultHeight, laneHeight = 1.1, 0.65, 1.4

// A bar is from one moment to another.
type bar struct {
	Class       string
	Left, Width float64
	Word        string // in it
}

type tick struct {
	Left float64
	Text string
}

type mark struct {
	Number int
	Left   float64
	Top    float64
	Kind   recording.Kind
	lane   int
}

// A note explains a mark.
type note struct {
	Number   int
	Kind     recording.Kind
	At, Text string
	Who      string
	Word     *word // what kind it is, unless the text says so

	moment float64
}

// A word is shown in a class.
type word struct {
	Class string `json:"class"`
	Text  string `json:"text"`
}

// kinds are the words for kinds of events that are not clear from their text.
var kinds = map[recording.Kind]string{
	recording.Wrote:     "write accepted",
	recording.Corrupted: "corrupting write",
	recording.Refused:   "write refused",
	recording.Fault:     "fault",
}

// notes are those for all that has a text, in order.
func notes(r recording.Run) (list []note) {
	for _, e := range r.Events {
		if e.Text == "" && !e.Kind.IsWrite() {
			continue
		}
		n := note{Kind: e.Kind, At: moment(e.From), Text: e.Text, Who: e.Who, moment: e.From}
		if text := kinds[e.Kind]; text != "" {
			n.Word = &word{string(e.Kind), text}
		}
		list = append(list, n)
	}
	slices.SortStableFunc(list, func(a, b note) int { return cmp.Compare(a.moment, b.moment) })
	for i := range list {
		list[i].Number = i + 1
	}
	return list
}

// draw draws a period of a run.
func draw(r recording.Run, view recording.Period, notes []note) *timeline {
	if view.To <= view.From {
		view.To = view.From + 1e-3
	}
	t := &timeline{View: view, Text: described(r)}
	t.Ticks = t.axis()
	overlaps := r.Overlaps()
	for _, who := range r.People() {
		one := row{Who: who, Bars: t.bars(r, overlaps, who)}
		one.Fault = slices.ContainsFunc(one.Bars, func(b bar) bool { return b.Class == string(recording.Fault) })
		for _, n := range notes {
			if n.Who == who && view.From <= n.moment && n.moment <= view.To {
				one.add(mark{Number: n.Number, Left: t.percent(n.moment), Kind: n.Kind})
			}
		}
		t.Rows = append(t.Rows, one)
	}
	return t
}

// percent is where a moment is.
func (t *timeline) percent(at float64) float64 {
	return 100 * (at - t.View.From) / (t.View.To - t.View.From)
}

// bars are what somebody did for a time, and over it the times in which they should not have held the lock, as others
// did.
func (t *timeline) bars(r recording.Run, overlaps []recording.Period, who string) (list []bar) {
	for _, e := range r.Events {
		if e.Who == who && (e.Lasts() || e.Kind.IsHold()) {
			list = t.add(list, string(e.Kind), e.From, e.To)
		}
	}
	for _, e := range r.Events {
		for _, o := range overlaps {
			if e.Who == who && e.Kind.IsHold() && max(e.From, o.From) < min(e.To, o.To) {
				list = t.add(list, "together", max(e.From, o.From), min(e.To, o.To))
			}
		}
	}
	return list
}

// words are what stands in bars that have room for it.
var words = map[string]string{
	"together":              "two hold it",
	string(recording.Waits): "waits",
	string(recording.Holds): "holds",
}

// roomForWord is how wide a bar is that has room for its word, on a phone.
const roomForWord = 28

// add adds the part of a bar that is in view.
func (t *timeline) add(list []bar, class string, from, to float64) []bar {
	if to < t.View.From || from > t.View.To {
		return list
	}
	left, right := max(0, t.percent(from)), min(100, t.percent(to))
	b := bar{Class: class, Left: left, Width: right - left}
	if b.Width >= roomForWord {
		b.Word = words[class]
	}
	return append(list, b)
}

// lens shows which period is shown larger elsewhere.
func (t *timeline) lens(p recording.Period) {
	t.Lens = &bar{Left: t.percent(p.From), Width: t.percent(p.To) - t.percent(p.From)}
}

// closer is the period that is worth a closer look, and what there is to be seen, where the whole is shown on a scale
// of so many milliseconds: what decides, or all of a run that is short.
func closer(r recording.Run, scale float64) (p recording.Period, caption string, ok bool) {
	at, around, ok := r.Decisive()
	switch {
	case ok:
		caption = at.Text
		if at.Who != "" {
			caption = at.Who + ": " + at.Text
		}
		return around, magnified(scale, around) + caption, true
	case r.Length < scale/4:
		p = recording.Period{To: r.Length}
		return p, magnified(scale, p) + "all of it", true
	}
	return p, "", false
}

func magnified(scale float64, p recording.Period) string {
	return fmt.Sprintf("%.0f times larger: ", scale/(p.To-p.From))
}

// room is how much of the width a mark needs, on a phone.
const room = 9

// add puts a mark into the first lane that has room for it.
func (r *row) add(m mark) {
	for slices.ContainsFunc(r.Marks, func(o mark) bool { return o.lane == m.lane && math.Abs(m.Left-o.Left) < room }) {
		m.lane++
	}
	m.Top = r.marksAt() + 0.1 + laneHeight*float64(m.lane)
	r.Marks = append(r.Marks, m)
	r.Lanes = max(r.Lanes, m.lane+1)
}

// axis are a few moments with readable numbers.
func (t *timeline) axis() (ticks []tick) {
	step := nice((t.View.To - t.View.From) / 4)
	digits := max(0, -int(math.Floor(math.Log10(step))))
	for i := math.Ceil(t.View.From / step); i*step <= t.View.To; i++ {
		at := i * step
		if left := t.percent(at); left < 92 || left == 0 {
			ticks = append(ticks, tick{left, readable(at, step, digits)})
		}
	}
	return ticks
}

// readable is a moment on an axis: in seconds if the axis has steps of such.
func readable(at, step float64, digits int) string {
	if step >= 200 {
		return fmt.Sprintf("%.1f s", at/1000)
	}
	return fmt.Sprintf("%.*f ms", digits, at)
}

// described tells a run to those who do not see it.
func described(r recording.Run) string {
	verbs := map[recording.Kind]string{recording.Holds: "holds the lock", recording.Shares: "shares the lock",
		recording.Waits: "waits", recording.Fault: "has a fault"}
	var said []string
	for _, e := range r.Events {
		if verb := verbs[e.Kind]; verb != "" {
			said = append(said, fmt.Sprintf("%s %s from %s to %s", e.Who, verb, moment(e.From), moment(e.End())))
		}
	}
	for _, o := range r.Overlaps() {
		said = append(said, fmt.Sprintf("two hold it from %s to %s", moment(o.From), moment(o.To)))
	}
	const most = 20
	if more := len(said) - most; more > 0 {
		said = append(said[:most], fmt.Sprintf("and %d more", more))
	}
	return "Who held the lock when: " + strings.Join(said, "; ")
}

func moment(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1000)
}
