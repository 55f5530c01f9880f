package holdfastvet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// LostRelease finds leases that a function leaves held on some way to its end.
var LostRelease = &analysis.Analyzer{
	Name: "lostrelease",
	Doc: `find locks that are acquired and not released

A lease is renewed until it is released or lost. Where a function ends without having released it, detached it or passed
it on, the lock stays taken for as long as the process lives:

	lease, err := mutex.Lock(ctx)
	if err != nil {
		return err
	}
	if err := ship(lease.Context(), order); err != nil {
		return err // want lease.Release before that, or deferred
	}
	return lease.Release(ctx)

It does not report functions that close a client, which releases all that it holds; leases that are passed on; and paths
after a look at Err, Done, Check or SetValue, which may have said that the lock is lost. Test files are checked only
with -lostrelease.tests, because there the client is mostly closed elsewhere.`,
	URL:      page + "#lostrelease",
	Requires: []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer},
	Run:      lostRelease,
}

var lookAtTests bool

func init() {
	LostRelease.Flags.BoolVar(&lookAtTests, "tests", false, "look at the files of tests, too")
}

func lostRelease(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	for cur := range in.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if !acquires(pass.TypesInfo, call) || isTest(pass, call) && !lookAtTests || closesClient(pass, cur) {
			continue
		}
		lookAtAcquisition(pass, cur)
	}
	return nil, nil
}

// closesClient reports whether the function around a call, or one within it, closes a client.
func closesClient(pass *analysis.Pass, call inspector.Cursor) bool {
	for outermost := range call.Enclosing((*ast.FuncDecl)(nil)) {
		for cur := range outermost.Preorder((*ast.CallExpr)(nil)) {
			f := callee(pass.TypesInfo, cur.Node().(*ast.CallExpr))
			if f != nil && f.Name() == "Close" && isMethodOf(f, "Client") {
				return true
			}
		}
	}
	return false
}

const dropped = "the lease is dropped, so nobody can release the lock or learn that it is lost"

// lookAtAcquisition reports an acquisition whose lease is dropped, or not released on every path.
func lookAtAcquisition(pass *analysis.Pass, call inspector.Cursor) {
	var names []ast.Expr
	switch parent := call.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		pass.ReportRangef(call.Node(), dropped)
		return
	case *ast.AssignStmt:
		names = parent.Lhs
	case *ast.ValueSpec:
		for _, name := range parent.Names {
			names = append(names, name)
		}
	}
	if len(names) != 2 {
		return // it is passed on
	}
	name, ok := names[0].(*ast.Ident)
	switch {
	case !ok: // it is stored
	case name.Name == "_":
		pass.ReportRangef(name, dropped)
	default:
		lookAtVariable(pass, call, name, names[1])
	}
}

// lookAtVariable reports an acquisition into a local variable that is not released on every path.
func lookAtVariable(pass *analysis.Pass, call inspector.Cursor, name *ast.Ident, err ast.Expr) {
	lease, _ := pass.TypesInfo.ObjectOf(name).(*types.Var)
	w := newWays(pass, call, lease)
	if w == nil {
		return
	}
	if id, ok := err.(*ast.Ident); ok {
		w.err, _ = pass.TypesInfo.ObjectOf(id).(*types.Var)
	}
	end := w.toEnd()
	if end == nil {
		return
	}
	what := "not released on every path"
	if !w.released() {
		what = "never released"
	}
	pass.Report(analysis.Diagnostic{
		Pos: name.Pos(), End: name.End(),
		Message: fmt.Sprintf("the lock is %s: the function may end in line %d with it held; "+
			"defer the release, or use Do", what, pass.Fset.Position(end.Pos()).Line),
		Related: []analysis.RelatedInformation{{Pos: end.Pos(), Message: name.Name + " is held here"}},
	})
}

// A use is what a mention of a lease means for its release.
type use int

const (
	looks   use = iota // it stays held, and ours to release
	mayEnd             // what is learned may be that it is lost
	letsGo             // it is released, or somebody else's to release
	ignored            // it is overwritten
)

// useOf says what a mention of a lease means.
func useOf(mention inspector.Cursor) use {
	cur := mention
	if x, ok := cur.Parent().Node().(*ast.IndexExpr); ok && x.X == cur.Node() {
		cur = cur.Parent()
	}
	switch parent := cur.Parent().Node().(type) {
	case *ast.SelectorExpr:
		if call, ok := cur.Parent().Parent().Node().(*ast.CallExpr); !ok || call.Fun != parent {
			return letsGo // a method value
		}
		switch parent.Sel.Name {
		case "Context":
			return useOfContext(cur.Parent().Parent())
		case "Token", "Name", "ValidUntil", "Revoked", "Value", "Notes":
			return looks
		case "Err", "Done", "Check", "SetValue":
			return mayEnd
		}
	case *ast.BinaryExpr:
		if parent.Op == token.EQL || parent.Op == token.NEQ {
			return looks
		}
	case *ast.AssignStmt:
		for _, left := range parent.Lhs {
			if left == mention.Node() {
				return ignored
			}
		}
	}
	return letsGo
}

// useOfContext says the same of a mention of the lease's context, which ends with the lease and with nothing else.
func useOfContext(mention inspector.Cursor) use {
	if asked, ok := mention.Parent().Node().(*ast.SelectorExpr); ok && asked.X == mention.Node() &&
		(asked.Sel.Name == "Err" || asked.Sel.Name == "Done") {
		return mayEnd
	}
	return looks
}
