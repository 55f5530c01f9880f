package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/holdfast-go/holdfast"
	tree   = "../.."
)

// A rule says which folders of ours the files of a folder may import. The first that matches a folder holds.
type rule struct {
	folder string // a regular expression
	may    string // another, for folders of ours; "" for none
	third  bool   // third-party packages too
	why    string
}

// drivers that only need the standard library live in the root module.
var rules = []rule{
	{`cmd/holdfast(/.*)?`, `.*`, true, "the command puts everything together"},
	{`lab(/.*)?`, `.*`, true, "the lab is where all that is heavy goes"},
	{`\.`, `driver|internal/boottime`, false, "what users hold knows the contract, and no backend"},
	{`driver`, ``, false, "the contract imports nothing of ours, so that anybody can implement it"},
	{`driver/drivertest`, `driver|memlock`, false, "the suite compares a driver with the reference"},
	{`(mem|sql)lock|quorum`, `driver|internal/(boottime|format)`, false, "a driver knows the contract, and neither users nor other drivers"},
	{`redislock/goredis`, `driver|redislock`, true, "the adapter brings another client to the same driver"},
	{`(redis|etcd|zk)lock(/.*)?`, `driver|internal/boottime`, true, "a driver knows the contract, and neither users nor other drivers"},
	{`fence`, `driver`, false, "the resource's side needs nothing of the lock's"},
	{`dashboard`, `\.|driver`, false, "it shows what clients see"},
	{`internal/.*`, `internal/.*`, false, "helpers know nothing of locks"},
}

// What tests import beyond what their package does.
var testsMay = []rule{
	{`\.`, `\.|driver|memlock`, false, "the core is tested on the reference"},
	{`driver`, `driver|memlock`, false, ""},
	{`(mem|sql)lock|quorum`, `\.|driver.*|memlock|internal/.*`, false, "a driver runs the suite"},
	{`(redis|etcd|zk)lock.*`, `\.|driver.*|internal/.*|(redis|etcd|zk)lock`, true, "a driver runs the suite on its server, and what users do"},
	{`internal/.*`, `internal/.*`, false, ""},
	{`.*`, `.*`, true, "rules for the rest are those of their packages"},
}

func TestImports(t *testing.T) {
	files := 0
	walk(t, func(file string, imports []string) {
		files++
		folder := path.Dir(file)
		r := match(rules, folder)
		if r == nil {
			t.Errorf("%s: no rule says what %s may import; add one", file, folder)
			return
		}
		for _, imported := range imports {
			if !r.allows(folder, imported) && !(strings.HasSuffix(file, "_test.go") && match(testsMay, folder).allows(folder, imported)) {
				t.Errorf("%s must not import %s: %s", file, imported, r.why)
			}
		}
	})
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}

// match returns the first rule for a folder.
func match(rules []rule, folder string) *rule {
	for i := range rules {
		if whole(rules[i].folder, folder) {
			return &rules[i]
		}
	}
	return nil
}

func whole(pattern, s string) bool { return regexp.MustCompile(`^(` + pattern + `)$`).MatchString(s) }

func (r *rule) allows(folder, imported string) bool {
	ours, isOurs := strings.CutPrefix(imported, module)
	switch {
	case !isOurs:
		return r.third || !strings.Contains(strings.Split(imported, "/")[0], ".")
	case ours == "":
		ours = "."
	default:
		ours = strings.TrimPrefix(ours, "/")
	}
	inside := strings.HasPrefix(ours, folder+"/") && !strings.Contains(folder, ".")
	return ours == folder || inside || r.may != "" && whole(r.may, ours)
}

// walk calls f with each Go file of the tree and what it imports.
func walk(t *testing.T, f func(file string, imports []string)) {
	t.Helper()
	err := filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != tree):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, imported)
		}
		file, err := filepath.Rel(tree, name)
		f(filepath.ToSlash(file), imports)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A user of one backend must not see what another needs.
func TestRootRequiresNothing(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "require") {
		t.Errorf("the root module requires something:\n%s", mod)
	}
	if _, err := os.Stat(filepath.Join(tree, "go.sum")); err == nil {
		t.Error("the root module has a go.sum")
	}
}

// The rules themselves, on imports that must not be.
func TestRulesRefuse(t *testing.T) {
	for _, row := range []struct{ folder, imported string }{
		{".", module + "/redislock"},
		{".", module + "/lab/faults"},
		{".", "github.com/redis/rueidis"},
		{"driver", module + "/memlock"},
		{"driver", module},
		{"memlock", module},
		{"sqllock", module + "/memlock"},
		{"sqllock", "modernc.org/sqlite"},
		{"redislock", module},
		{"redislock", module + "/sqllock"},
		{"quorum", module + "/redislock"},
		{"internal/servers", module + "/driver"},
		{"redislock", module + "/cmd/holdfast"},
		{"etcdlock", module + "/lab/classic"},
	} {
		if match(rules, row.folder).allows(row.folder, row.imported) {
			t.Errorf("%s may import %s", row.folder, row.imported)
		}
	}
}
