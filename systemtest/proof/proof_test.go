package proof

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	_ "github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/effort"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/systemtest/foreign"
	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
	_ "github.com/holdfast-go/holdfast/zklock"
)

var (
	proofFor    = flag.Duration("proof.for", 0, "go on with new seeds for so long on each store")
	proofStore  = flag.String("proof.store", "", "the stores to try, with commas between; all if empty")
	proofOut    = flag.String("proof.out", "", "the folder for runs in which something was wrong")
	proofRuns   = flag.String("proof.runs", "", "a file to which each run of proof.for adds a line")
	proofCommit = flag.String("proof.commit", "", "what the runs are of, for proof.runs")
	proofSeed   = flag.Uint64("proof.seed", 0, "the seed of the first schedule of each store; drawn if zero")
	proofReplay = flag.String("proof.replay", "", "the file of a schedule that TestReplay follows")
	proofSmall  = flag.Bool("proof.smaller", false, "TestReplay makes the schedule as small as it can be")
)

func init() { sqllock.RegisterTLS(mysql.RegisterTLSConfig) }

func TestMain(m *testing.M) {
	if !foreign.Main() && !Visitor() { // the former is started by a visitor, in its environment
		os.Exit(m.Run())
	}
}

// usual is a run of `make test` and `make test-long`, and long one of `make proof`.
var (
	usual = Size{Visitors: 5, Locks: 2, Lasts: 8 * time.Second, Crowds: 150}
	long  = Size{
		Visitors: 14, Runners: 6, Locks: 3, Lasts: 40 * time.Second, Commands: true, Crowds: 4000, Many: 800,
	}
)

// Processes visit locks on each store while it is broken, and nothing is wrong with what was seen. Without flags
// these are the stores of `make test`.
func TestProof(t *testing.T) {
	for _, k := range nemesis.Kinds {
		if k.Long && *proofFor == 0 && *proofStore == "" {
			continue // TestProofOnOtherStores tries it
		}
		if *proofStore != "" && !strings.Contains(","+*proofStore+",", ","+k.Name+",") {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			if *proofFor == 0 {
				t.Parallel()
				prove(t, k.Start(t), *proofSeed, usual, new(past))
				return
			}
			store, before, total := k.Start(t), new(past), 0
			for until := time.Now().Add(*proofFor); time.Now().Before(until) && !t.Failed(); {
				total += prove(t, store, *proofSeed, long, before)
				t.Logf("%s: %d acquisitions so far", k.Name, total)
				*proofSeed = 0
			}
		})
	}
}

// The same, on the stores that are much like others, or take much.
func TestProofOnOtherStores(t *testing.T) {
	effort.Long(t)
	if *proofFor != 0 || *proofStore != "" {
		t.Skip("TestProof tries what the flags say")
	}
	for _, k := range nemesis.Kinds {
		if k.Long {
			t.Run(k.Name, func(t *testing.T) {
				t.Parallel()
				prove(t, k.Start(t), *proofSeed, usual, new(past))
			})
		}
	}
}

// slowest is how long it may take until a visitor is inside, on a machine that is busy.
const slowest = 16 * time.Second

// blindly is a schedule in which a visitor who does not look at its lease stays inside after the lock was granted to
// another, if it is there at this time.
func blindly(at time.Duration) string {
	return heading + fmt.Sprintf(`
store redis
ttl 2s
lasts %v
careless
visitor 0
  lock m0 units 1 within 1s stays %v
visitor 1
  lock m1 units 1 within 1m stays %v
  lock m0 units 1 within 1m stays 1s
at %v for 9s line 0: black hole
`, 4*at, 6*at, at-at/5, at)
}

// The judges find fault with visitors who do not look at their leases: so they would find fault with a lock that does
// not tell them.
func TestCareless(t *testing.T) {
	t.Parallel()
	store := redis(t)
	for at := time.Second; ; at *= 2 {
		wrongs := Run(t, store, parsed(t, blindly(at))).Judge()
		if slices.ContainsFunc(wrongs, func(w Wrong) bool { return w.Judge == "exclusion" }) {
			return
		}
		if at >= slowest {
			t.Fatalf("found is only %v", wrongs)
		}
	}
}

// stopped is a schedule in which the command is stopped at this time while its child is inside, if it is there.
func stopped(at time.Duration) string {
	return heading + fmt.Sprintf(`
store redis
ttl 2s
lasts %v
visitor 0
  run m0 units 1 within 1m stays 20s
visitor 1
  lock m1 units 1 within 1m stays %v
  lock m0 units 1 within 1m stays 10ms
at %v for 9s visitor 0: stop
`, at+5*time.Second, at-at/5, at)
}

// What the command runs ends before somebody else is inside, also when the command is stopped.
func TestStoppedCommand(t *testing.T) {
	t.Parallel()
	store := redis(t)
	for at := time.Second; ; at *= 2 {
		r := Run(t, store, parsed(t, stopped(at)))
		report(t, r)
		both := gotIn(r, 0) && gotIn(r, 1)
		if both || t.Failed() {
			return
		}
		if at >= slowest {
			t.Fatalf("after %v the visitors have not been inside: %v, %v", at, gotIn(r, 0), gotIn(r, 1))
		}
	}
}

func redis(t *testing.T) *nemesis.Store {
	k, _ := nemesis.Named("redis")
	return k.Start(t)
}

func parsed(t *testing.T, text string) Schedule {
	t.Helper()
	s, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gotIn reports whether a visitor was inside m0.
func gotIn(r Record, visitor int) bool {
	return slices.ContainsFunc(r.Visits, func(v Visit) bool {
		return v.Visitor == visitor && v.Lock == "m0" && v.Outcome == history.Got
	})
}

// prove lets a seed's schedule happen to a store after others, and returns how often somebody got in. Seed 0 stands for
// any.
func prove(t *testing.T, store *nemesis.Store, seed uint64, size Size, before *past) int {
	t.Helper()
	if seed == 0 {
		seed = 1 + rand.Uint64N(999_999)
	}
	r := Run(t, store, Draw(seed, store, size))
	r.Before = before.before()
	before.add(r)
	sum := r.tally(*proofCommit, report(t, r))
	if *proofRuns != "" {
		if err := addLine(*proofRuns, sum.String()); err != nil {
			t.Error(err)
		}
	}
	return sum.Got
}

// addLine adds a line to a file.
func addLine(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

// report tells how much there is in a record, returns what is wrong with it, and keeps one in which something is.
func report(t *testing.T, r Record) (wrongs []Wrong) {
	t.Helper()
	got := r.Acquired()
	t.Logf("%s, seed %d: %d visits, %d got in, %d transactions, %d blows; the machine stood still for %v",
		r.Schedule.Store, r.Schedule.Seed, len(r.Visits), got, len(r.Counts), len(r.Struck),
		r.StoodStill().Round(time.Millisecond))
	if beside, inside := r.Beside(); beside > 0 {
		t.Logf("%d of these visits were with programs of others, which got in %d times", beside, inside)
		if inside == 0 {
			t.Error("no program of others got in")
		}
	}
	if most := r.mostPerAnswer(); most > 0 {
		t.Logf("answers of %d bytes on average, for the visitor with the longest", most)
	}
	for _, m := range r.Many {
		t.Logf("visitor %d: %d of %s held, %d waited, from %v to %v", m.Visitor, m.Held, m.Lock, m.Waited, m.From, m.To)
	}
	if got == 0 && len(r.Counts) == 0 {
		t.Error("nobody got in")
	}
	wrongs = r.Judge()
	if *proofFor == 0 && *proofReplay == "" {
		wrongs = slices.DeleteFunc(wrongs, func(w Wrong) bool {
			late := slices.Contains(timely, w.Judge)
			if late {
				t.Logf("not judged beside other tests: %v", w)
			}
			return late
		})
	}
	for _, w := range wrongs {
		t.Error(w)
	}
	if len(wrongs) > 0 {
		keep(t, r, wrongs)
	}
	return wrongs
}

// keep prints the schedule of a record, or writes it to a folder with all that was seen.
func keep(t *testing.T, r Record, wrongs []Wrong) {
	t.Helper()
	if *proofOut == "" {
		t.Logf("The schedule, for -proof.replay:\n%v", r.Schedule)
		return
	}
	store := strings.ReplaceAll(r.Schedule.Store, " ", "-")
	base := filepath.Join(*proofOut, fmt.Sprintf("%s-%d", store, r.Schedule.Seed))
	var record, page bytes.Buffer
	err := errors.Join(os.MkdirAll(*proofOut, 0o755), r.Write(&record), r.WritePage(&page, wrongs),
		os.WriteFile(base+".schedule", []byte(r.Schedule.String()), 0o644),
		os.WriteFile(base+".record.json", record.Bytes(), 0o644),
		os.WriteFile(base+".page.json", page.Bytes(), 0o644))
	if err != nil {
		t.Error(err)
	}
	t.Logf("Follow it again with -proof.replay %s.schedule", base)
	t.Logf("Draw it with: go run ./lab replay %s.page.json --out DIR", base)
}

var golden = flag.Bool("proof.golden", false, "TestPage writes the file that the test of the lab draws")

// What a run writes for the lab is what the test of the lab draws.
func TestPage(t *testing.T) {
	r := quiet()
	r.Schedule.Store, r.Schedule.Seed, r.Schedule.Lasts = "redis", 17, 8*sec
	r.Schedule.Visitors = [][]Step{{{Lock: "m0"}}}
	r.Visits[1].Return = 4 * sec
	during := Span{3 * sec, 5 * sec}
	r.Struck = []Struck{{Blow: Blow{Target: OnLine, What: "black hole"}, Span: during}}
	var page bytes.Buffer
	if err := r.WritePage(&page, r.Judge()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "lab", "testdata", "proof.json")
	if *golden {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, page.Bytes()) {
		t.Errorf("%s, error %v:\n%s\nwant, by -proof.golden:\n%s", file, err, want, page.Bytes())
	}
}

// TestReplay follows a schedule that was written down.
func TestReplay(t *testing.T) {
	if *proofReplay == "" {
		t.Skip("there is no -proof.replay")
	}
	text, err := os.ReadFile(*proofReplay)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", *proofReplay, err)
	}
	k, _ := nemesis.Named(s.Store)
	store := k.Start(t)
	report(t, Run(t, store, s))
	if *proofSmall {
		smaller := minimise(s, func(s Schedule) bool { return len(Run(t, store, s).Judge()) > 0 })
		t.Logf("The smallest schedule with which something is wrong:\n%v", smaller)
	}
}
