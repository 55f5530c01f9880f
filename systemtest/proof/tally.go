package proof

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A tally is what a long run comes to: a line of a file, with tabs between its words.
type tally struct {
	Store        string
	Seed         uint64
	Commit       string
	Got          int // visits that got in
	Transactions int // that were committed
	Blows        int
	Wrong        []string // the judges that found something
}

// sound stands in a line for judges that found nothing.
const sound = "nothing"

func (r Record) tally(commit string, wrongs []Wrong) tally {
	sum := tally{
		Store: r.Schedule.Store, Seed: r.Schedule.Seed, Commit: commit, Got: r.Acquired(), Blows: len(r.Struck),
	}
	for _, c := range r.Counts {
		if c.Fate == Committed {
			sum.Transactions++
		}
	}
	for _, w := range wrongs {
		sum.Wrong = append(sum.Wrong, w.Judge)
	}
	slices.Sort(sum.Wrong)
	sum.Wrong = slices.Compact(sum.Wrong)
	return sum
}

func (t tally) String() string {
	wrong := sound
	if len(t.Wrong) > 0 {
		wrong = strings.Join(t.Wrong, ",")
	}
	return fmt.Sprintf("%s\t%d\t%s\t%d\t%d\t%d\t%s", t.Store, t.Seed, t.Commit, t.Got, t.Transactions, t.Blows, wrong)
}

// parseTally reads what String writes.
func parseTally(line string) (t tally, err error) {
	words := strings.Split(line, "\t")
	if len(words) != 7 {
		return t, fmt.Errorf("%q has %d words, want 7", line, len(words))
	}
	t.Store, t.Commit = words[0], words[2]
	if t.Seed, err = strconv.ParseUint(words[1], 10, 64); err != nil {
		return t, fmt.Errorf("%q: %w", line, err)
	}
	for i, number := range []*int{&t.Got, &t.Transactions, &t.Blows} {
		if *number, err = strconv.Atoi(words[3+i]); err != nil {
			return t, fmt.Errorf("%q: %w", line, err)
		}
	}
	if words[6] != sound {
		t.Wrong = strings.Split(words[6], ",")
	}
	return t, nil
}

// tallied is the table of what runs come to on each of these stores.
func tallied(stores []string, runs []tally) string {
	rows := []string{"| store | runs | got in | transactions | blows | wrong |", "|---|--:|--:|--:|--:|---|"}
	for _, store := range stores {
		var sum tally
		n := 0
		for _, run := range runs {
			if run.Store == store {
				n, sum.Got, sum.Transactions = n+1, sum.Got+run.Got, sum.Transactions+run.Transactions
				sum.Blows, sum.Wrong = sum.Blows+run.Blows, append(sum.Wrong, run.Wrong...)
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | %d | %d | %d | %d | %s |", store, n, sum.Got, sum.Transactions,
			sum.Blows, counted(sum.Wrong)))
	}
	return strings.Join(rows, "\n") + "\n"
}

// counted says how often each word is among these.
func counted(words []string) string {
	if len(words) == 0 {
		return sound
	}
	slices.Sort(words)
	var said []string
	for len(words) > 0 {
		n := 1
		for n < len(words) && words[n] == words[0] {
			n++
		}
		said, words = append(said, fmt.Sprintf("%s in %d", words[0], n)), words[n:]
	}
	return strings.Join(said, ", ")
}
