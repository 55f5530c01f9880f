package holdfastvet

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// moreWrites are the full names of functions that a flag adds.
var moreWrites names

type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(list string) error {
	*n = nil
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*n = append(*n, name)
		}
	}
	return nil
}

// isWrite reports whether a call writes to a resource that others share.
func isWrite(pass *analysis.Pass, cur inspector.Cursor) bool {
	call := cur.Node().(*ast.CallExpr)
	f := callee(pass.TypesInfo, call)
	if f == nil {
		return false
	}
	switch pkg := packageOf(f); {
	case slices.Contains(moreWrites, f.FullName()):
		return true
	case isDatabase(pkg):
		return f.Signature().Recv() != nil && isStatement(pass, f, call)
	case pkg == "net/http":
		return isRequest(pass, f, call)
	}
	return false
}

// isDatabase reports whether statements are sent by the types of a package.
func isDatabase(pkg string) bool { return pkg == "database/sql" || pgx.MatchString(pkg) }

var (
	pgx     = regexp.MustCompile(`^github\.com/jackc/pgx/v\d+(/pgxpool)?$`)
	changes = regexp.MustCompile(`(?i)^\s*(INSERT|UPDATE|DELETE|MERGE|REPLACE)\b`)
)

// isStatement reports whether a call of a database changes something: Exec does, and a query whose text says so.
func isStatement(pass *analysis.Pass, f *types.Func, call *ast.CallExpr) bool {
	switch f.Name() {
	case "Exec", "ExecContext":
		return true
	case "Query", "QueryContext", "QueryRow", "QueryRowContext":
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			text, ok := constantText(pass, arg)
			return ok && changes.MatchString(text)
		})
	}
	return false
}

// isRequest reports whether a call sends or makes an HTTP request that changes something.
func isRequest(pass *analysis.Pass, f *types.Func, call *ast.CallExpr) bool {
	switch f.Name() {
	case "Post", "PostForm":
		return f.Signature().Recv() == nil || isNamed(f.Signature().Recv().Type(), "net/http", "Client")
	case "NewRequest", "NewRequestWithContext":
		at := len(call.Args) - 3 // the method, the URL, the body
		if at < 0 {
			return false
		}
		method, ok := constantText(pass, call.Args[at])
		return ok && !slices.Contains([]string{"", "GET", "HEAD", "OPTIONS", "TRACE"}, method)
	}
	return false
}

func constantText(pass *analysis.Pass, x ast.Expr) (text string, ok bool) {
	v := pass.TypesInfo.Types[x].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}
