package etcdlock

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// All errors that package rpctypes declares are in the table, once.
func TestRepliesAreComplete(t *testing.T) {
	t.Parallel()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "go.etcd.io/etcd/api/v3/v3rpc/rpctypes").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(),
		filepath.Join(strings.TrimSpace(string(dir)), "error.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "ErrGRPC") {
			return true
		}
		if made, ok := spec.Values[0].(*ast.CallExpr); ok { // else it is another's name
			declared[strings.Trim(made.Args[1].(*ast.BasicLit).Value, `"`)] = true
		}
		return true
	})
	for words := range declared {
		if _, ok := byWords[words]; !ok {
			t.Errorf("the table has no %q", words)
		}
	}
	if len(replies) != len(declared) || len(byWords) != len(replies) {
		t.Errorf("%d replies, %d of them different, for %d errors", len(replies), len(byWords), len(declared))
	}
	for _, r := range replies {
		if rpctypes.ErrorDesc(r.err) == "" {
			t.Errorf("%v has no words", r.err)
		}
	}
}
