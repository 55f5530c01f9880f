package layers

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A layer says which of our folders the files of a folder may import, besides itself and what is below it. Folders are
// regular expressions; the first layer that matches a folder holds.
type layer struct {
	folder string
	may    string
	tests  string // what its tests may import too
	why    string
}

const (
	helpers   = `internal/(boottime|causes|format|dbms|pemfile|knownfaults)` // what is too small to be anybody's
	forTests  = `internal/(servers|opened|claimed|proxy|interop|pace|apart|leasedtest)`
	sorted    = `internal/effort` // by which a test says that it is long
	aContract = `driver|driver/(batch|drivertest)`
	inBubbles = `internal/bubble`                            // those with bubbles must use it
	forAll    = inBubbles + `|` + sorted + `|internal/model` // any test may use it
)

var layers = []layer{
	{`(` + programs + `|` + heavyTests + `)(/.*)?`, `.*`, `.*`,
		"what nobody imports may import anything"},
	{`\.`, `driver|driver/batch|internal/(boottime|stack)`, `driver|memlock`,
		"what users hold knows the contract and no backend, and is tested on the reference"},
	{`driver`, ``, `memlock`,
		"the contract imports nothing of ours, so that anybody can implement it"},
	{`driver/batch`, `driver|internal/stack`, `driver/drivertest|memlock`,
		"what sends operations knows the contract, and is tested on the reference"},
	{`driver/template`, `driver`, `\.|driver/drivertest|` + inBubbles,
		"the driver to copy knows the contract alone, and its tests show how users come to it"},
	{`driver/drivertest`, `driver|driver/batch|memlock|internal/(pace|bubble|effort)`, ``,
		"the suite compares a driver with the reference"},
	{`(mem|sql)lock`, `driver|` + helpers, `\.|` + aContract + `|memlock|` + forTests,
		"a driver knows the contract, and neither what users hold nor other drivers; its examples show it to users"},
	{`quorum`, `driver|driver/batch|internal/stack|` + helpers, aContract + `|memlock|` + forTests,
		"a driver of several others sends to them as users of drivers do, and knows none of them"},
	{`sqllock/internal/.*`, `driver|sqllock/internal/(health|replies|server)|` + helpers, ``,
		"what serves one kind of database knows the contract, and no other kind"},
	{`redislock/goredis`, `driver|redislock`, `\.|` + aContract + `|` + forTests,
		"the adapter brings another client to the same driver"},
	{`(etcd|zk)lock`, `driver|internal/leased|` + helpers, `\.|` + aContract + `|` + forTests,
		"a driver whose engine leases by session knows what those have in common, and no other driver"},
	{`internal/leased`, `driver|internal/boottime`, `driver/drivertest`,
		"what such drivers have in common knows the contract, and no engine"},
	{`redislock`, `driver|` + helpers, `\.|` + aContract + `|` + forTests,
		"a driver knows the contract, and neither what users hold nor other drivers; its examples show it to users"},
	{`fence`, `internal/dbms`, `\.|driver|memlock|internal/fencetest`,
		"the resource's side knows numbers, and no locks; its examples show both sides"},
	{`fence/[^/]*`, `fence|driver`, `\.|driver|(redis|etcd)lock|internal/fencetest|` + forTests,
		"the resource's side knows numbers, and no locks; its examples show both sides"},
	{`adapters/caddylock`, `\.|adapters/certmagiclock|driver`, `memlock`,
		"Caddy's storage is CertMagic's, and it tells a backend that refuses from one that is down"},
	{`adapters/[^/]*`, `\.`, `driver|driver/batch|memlock`,
		"an adapter fits what users hold to another library, whatever the backend"},
	{`holdfasttest`, `\.|driver|driver/batch|memlock|fence`, ``,
		"tests of programs get what users hold, on the reference"},
	{`holdfastvet(/.*)?`, `holdfastvet`, ``,
		"it reads programs that use what users hold, and uses nothing of it"},
	{`dashboard`, `\.|driver`, `memlock`,
		"it shows what clients see"},
	{`internal/leasedtest`, `\.|driver|driver/drivertest|internal/(servers|claimed|proxy|pace|effort)`, ``,
		"it tries what users hold, and what drivers do, on several engines"},
	{`internal/knownfaults`, `driver`, `internal/servers`,
		"it knows servers by their names and versions alone"},
	{`internal/claimed`, `driver|internal/pace`, ``,
		"it requests claims of drivers, whatever the engine"},
	{`internal/opened`, `\.|driver|driver/drivertest|internal/proxy`, ``,
		"it opens what users hold, and drivers, whatever the engine, also over a bad network"},
	{`internal/fencetest`, `fence`, ``,
		"it tries what refuses such holders, whatever that is"},
	{`internal/apart`, `\.|driver|internal/(servers|effort)`, ``,
		"it tries what users hold on several servers"},
	{`internal/devtools/.*`, `internal/devtools/(source|tree)`, ``,
		"tools read our source, and use nothing of it"},
	{`internal/released`, ``, `internal/servers`,
		"it gets what we release as others do, and so imports nothing of it"},
	{`internal/testextra`, `internal/servers`, ``,
		"it has tests run on other servers than the usual ones"},
	{`internal/interop`, sorted, ``,
		"it lets programs compete, whatever they are"},
	{`internal/(docs|style)`, ``, `internal/files`,
		"they are about the same files"},
	{`internal/causes`, `driver`, ``,
		"it tells what a server answered from other errors"},
	{`internal/pemfile`, ``, `internal/servers`,
		"it reads certificates, which the kit of servers makes"},
	{`internal/[^/]*`, ``, ``,
		"helpers know nothing of locks, nor of each other"},
	{`cmd/[^/]*(/.*)?`, `.*`, `.*`,
		"a command puts everything together"},
}

const (
	programs   = `lab|bench|mutants`
	heavyTests = `systemtest|adapters/examples|sqllock/sqltest`
)

// ends are the folders whose heavy imports must reach nobody: only their own files import them, and these others.
var ends = []struct{ folder, others string }{
	{`bench`, `(lab|systemtest)(/.*)?`}, // it has the locks of other libraries, and connections that count
	{`cmd/[^/]*|` + programs + `|` + heavyTests, ``},
}

func TestImports(t *testing.T) {
	files := goFiles(t)
	for _, f := range files {
		for _, imported := range f.imports {
			if complaint := refuse(f.name, f.module, imported); complaint != "" {
				t.Errorf("%s must not import %s: %s", f.name, imported, complaint)
			}
		}
	}
	if len(files) < 50 {
		t.Errorf("only %d files were looked at", len(files))
	}
}

// Without internal/bubble the race detector crashes now and then.
func TestBubbles(t *testing.T) {
	with, safe := make(map[string]bool), make(map[string]bool)
	for _, f := range goFiles(t) {
		folder := path.Dir(f.name)
		with[folder] = with[folder] || slices.Contains(f.imports, "testing/synctest")
		safe[folder] = safe[folder] || folder == inBubbles || slices.Contains(f.imports, root+"/"+inBubbles)
	}
	for folder, has := range with {
		if has && !safe[folder] {
			t.Errorf("%s has bubbles; it needs func TestMain(m *testing.M) { bubble.Main(m) }, or bubble.Alone", folder)
		}
	}
}

// refuse returns why a file in a module must not import something, or nothing.
func refuse(file, module, imported string) string {
	folder := path.Dir(file)
	to, ours := within(imported)
	switch {
	case !ours && !isStandard(imported) && module == ".":
		return "the root module requires nothing, tests included; what needs it has a go.mod of its own"
	case !ours:
		return ""
	case isEnd(to, folder):
		return "nobody imports a program, or tests that need more than the product"
	case to == folder || strings.HasPrefix(to, folder+"/"):
		return ""
	}
	l := layerOf(folder)
	switch {
	case l == nil:
		return "no layer says what " + folder + " may import; add one"
	case whole(l.may, to), strings.HasSuffix(file, "_test.go") && (whole(l.tests, to) || whole(forAll, to)):
		return ""
	}
	return l.why
}

// isEnd reports whether a package belongs to an end that a folder may not import.
func isEnd(to, folder string) bool {
	for _, end := range ends {
		own := regexp.MustCompile(`^(` + end.folder + `)(/|$)`).FindString(to)
		if own != "" {
			return !strings.HasPrefix(folder+"/", strings.TrimSuffix(own, "/")+"/") && !whole(end.others, folder)
		}
	}
	return false
}

func layerOf(folder string) *layer {
	for i := range layers {
		if whole(layers[i].folder, folder) {
			return &layers[i]
		}
	}
	return nil
}

// within returns the folder of an imported package, if it is one of ours.
func within(imported string) (folder string, ours bool) {
	if imported == root {
		return ".", true
	}
	return strings.CutPrefix(imported, root+"/")
}

// isStandard reports whether a package is of the standard library: the first element of others has a dot.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// whole reports whether a pattern matches all of s. No pattern matches nothing.
func whole(pattern, s string) bool {
	return pattern != "" && regexp.MustCompile(`^(`+pattern+`)$`).MatchString(s)
}

// The layers themselves, on imports that must not be.
func TestLayersRefuse(t *testing.T) {
	for _, row := range []struct{ file, module, imported string }{
		{"lock.go", ".", root + "/redislock"},
		{"lock.go", ".", root + "/memlock"},
		{"lock.go", ".", root + "/systemtest/faults"},
		{"lock_test.go", ".", root + "/systemtest/faults"},
		{"lock.go", ".", "github.com/redis/rueidis"},
		{"lock_test.go", ".", "pgregory.net/rapid"},
		{"driver/driver.go", ".", root + "/memlock"},
		{"driver/driver.go", ".", root},
		{"driver/drivertest/run.go", ".", root},
		{"memlock/lock.go", ".", root},
		{"sqllock/internal/sqlite/list_test.go", ".", root},
		{"sqllock/new.go", ".", root + "/memlock"},
		{"sqllock/driver_test.go", ".", "modernc.org/sqlite"},
		{"quorum/driver.go", ".", root + "/redislock"},
		{"quorum/driver_test.go", ".", root + "/redislock"},
		{"fence/sql.go", ".", root},
		{"fence/sql_test.go", ".", "modernc.org/sqlite"},
		{"internal/servers/redis.go", ".", root + "/driver"},
		{"redislock/driver.go", "redislock", root},
		{"redislock/driver.go", "redislock", root + "/sqllock"},
		{"redislock/driver_test.go", "redislock", root + "/etcdlock"},
		{"redislock/driver.go", "redislock", root + "/internal/servers"},
		{"redislock/driver.go", "redislock", root + "/cmd/holdfast/internal/child"},
		{"etcdlock/driver.go", "etcdlock", root + "/lab/classic"},
		{"etcdlock/driver.go", "etcdlock", root + "/internal/leasedtest"},
		{"redislock/driver.go", "redislock", root + "/internal/leased"},
		{"internal/leased/claim.go", ".", root + "/internal/servers"},
		{"cmd/holdfast/main.go", "cmd/holdfast", root + "/bench/stats"},
		{"cmd/holdfast/run.go", "cmd/holdfast", root + "/lab/classic"},
		{"lock.go", ".", root + "/lab/classic"},
		{"systemtest/faults/f_test.go", "systemtest", root + "/cmd/holdfast"},
		{"systemtest/faults/f_test.go", "systemtest", root + "/lab/classic"},
		{"sqllock/driver_test.go", ".", root + "/sqllock/sqltest/claimstest"},
		{"bench/run.go", "bench", root + "/lab/stage"},
		{"brandnew/file.go", ".", root + "/driver"},
	} {
		if refuse(row.file, row.module, row.imported) == "" {
			t.Errorf("%s may import %s", row.file, row.imported)
		}
	}
}
