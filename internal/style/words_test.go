package style

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/files"
)

// An oldWord was replaced by one that readers of the field know, and must not come back.
type oldWord struct {
	word  *regexp.Regexp
	stems []string       // of which each match has one, as it is in lower case
	in    *regexp.Regexp // the files that had it
	now   string
}

// old returns the word, for whole words in any case, in files that match a pattern; in all if that is empty.
func old(word, in, now string) oldWord {
	if in == "" {
		in = `.*`
	}
	return oldWord{
		word: regexp.MustCompile(`(?i)\b(` + word + `)\b`), stems: stems(word),
		in: regexp.MustCompile(`^(` + in + `)$`), now: now,
	}
}

// stems returns how the alternatives of a word begin. To look for these takes little beside a regular expression, which
// takes seconds for the whole tree.
func stems(word string) (all []string) {
	inside := 0
	alternatives := strings.FieldsFunc(word, func(r rune) bool {
		switch r {
		case '(':
			inside++
		case ')':
			inside--
		}
		return r == '|' && inside == 0
	})
	for _, one := range alternatives {
		stem, _ := regexp.MustCompile(one).LiteralPrefix()
		all = append(all, strings.ToLower(stem))
	}
	return all
}

var oldWords = []oldWord{
	old(`lab/(sqltest|sessiontest|txtest)`, ``, "sqllock/sqltest/..."),
	old(`(lab|quorum)/quorumtest`, ``, "systemtest/redlock"),
	old(`lab/(faults|history|peers|scale|soak)`, ``, "systemtest/..."),
	old(`lab/(bench|mutants)`, ``, "bench and mutants at the top"),
	old(`lab/adapters`, ``, "adapters/examples"),
	old(`internal/hall|halls?`, ``, "internal/interop: a section that clients contend for"),
	old(`servers\.Need`, ``, "servers.Require"),
	old(`tombs?`, ``, "tombstone"),
	old(`greeters?`, ``, "handshake"),
	old(`bells?`, `.*\.(go|md)`, "wake-up, wake lock"), // .sql: the routines in databases keep their variables
	old(`guests?`, `(docs|redislock|quorum|holdfasttest)/.*|[^/]*\.go`, "foreign"),
	old(`linger(s|ed|ing)?`, `([^i]|in[^t]|internal/[^p]).*`, "minimum hold"), // internal/proxy: SO_LINGER of TCP
	old(`patrols?`, ``, "poller, watchdog"),
	old(`spots?|aside|stuck|resting`, `sqllock/internal/servertables/[^/]*\.go`, "affinity, bulk, locked, idle"),
	old(`seats?|seated`, `sqllock/internal/servertables/[^/]*\.go`, "sleeper; in leased a seat is a claim in a queue"),
	old(`ears?|hearings?`, `redislock/.*`, "subscription, listener"),
	old(`combiners?|pipeliners?`, ``, "batch.Sender"),
	old(`mailbox(es)?|notifiers?`, `driver/.*|redislock/.*|quorum/.*|memlock/.*|[^/]*\.go`, "inbox, listener"),
	old(`houses?`, `lab/.*\.go`, "environment"),
	old(`recipes?`, `lab/.*\.go`, "task"),
	old(`players?|plays?|played`, `lab/.*`, "participant, run"),
	old(`actors?`, `lab/.*\.go`, "subprocess"),
	old(`stages?`, `lab/.*\.go`, "testbed"),
	old(`acts?|scenes?`, `lab/.*\.go`, "variant"),
}

// skipped are the files that may have the words: what was is told there.
var skipped = regexp.MustCompile(`^(CHANGELOG\.md|internal/style/.*|docs/design-notes/.*)$`)

// kept are names that others know: files and keys that are stored, routines in databases, and the
// user of a test of access rights.
var kept = regexp.MustCompile("[\"`]bell[\"`]|holdfast-guest|redis://guest:|`guest`|\"guest\"")

func TestOldWords(t *testing.T) {
	for _, ending := range []string{".go", ".md", ".sh", ".lua", ".sql", ".html", ".js", ".py", ".java"} {
		for name, text := range files.EndingIn(t, ending) {
			if !skipped.MatchString(name) {
				for _, complaint := range findOld(name, text) {
					t.Error(complaint)
				}
			}
		}
	}
}

func findOld(name, text string) (complaints []string) {
	lower := strings.ToLower(text)
	for _, w := range oldWords {
		has := func(stem string) bool { return strings.Contains(lower, stem) }
		if !w.in.MatchString(name) || !slices.ContainsFunc(w.stems, has) {
			continue
		}
		text := kept.ReplaceAllString(text, "")
		for _, at := range w.word.FindAllStringIndex(text, -1) {
			if !strings.HasSuffix(text[:at[0]], `json:"`) { // the names in reports stay
				complaints = append(complaints, name+" says "+text[at[0]:at[1]]+"; now that is "+w.now)
			}
		}
	}
	return complaints
}

func TestStems(t *testing.T) {
	for word, want := range map[string]string{
		`tombs?`: "tomb", `lab/(faults|peers)`: "lab/", `internal/hall|halls?`: "internal/hall hall",
		`servers\.Need`: "servers.need", `linger(s|ed)?`: "linger",
	} {
		if got := strings.Join(stems(word), " "); got != want {
			t.Errorf("the stems of %s are %q, want %q", word, got, want)
		}
	}
}

func TestFindOld(t *testing.T) {
	for text, want := range map[string]int{
		"the hall, lab/bench": 2,
		"they share a halls":  1,
		"shall they":          0,
		"`bell`, no bell":     1,
	} {
		if got := findOld("a.md", text); len(got) != want {
			t.Errorf("%q: %q, want %d complaints", text, got, want)
		}
	}
	if got := findOld("sqllock/a.go", "the house"); len(got) != 0 {
		t.Errorf("a word that is old in lab alone: %q", got)
	}
}
