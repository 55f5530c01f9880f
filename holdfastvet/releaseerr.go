package holdfastvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// ReleaseErr finds functions that report success without having asked the release whether the lock was held.
var ReleaseErr = &analysis.Analyzer{
	Name: "releaseerr",
	Doc: `find successes that are reported although the lock may have been lost

The error of Release is nil only if the lock was held until that moment. A function that drops it and returns nil
reports success for work that may have overlapped with another holder's:

	lease.Release(ctx) // want return lease.Release(ctx)
	return nil

It does not report functions that return no error, that call Err or Check of the lease, that write
_ = lease.Release(ctx), and that defer the release; -releaseerr.defer reports these last, too.`,
	URL:      page + "#releaseerr",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      releaseErr,
}

var lookAtDefers bool

func init() {
	ReleaseErr.Flags.BoolVar(&lookAtDefers, "defer", false, "look at deferred releases, too")
}

func releaseErr(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	for cur := range in.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := callee(pass.TypesInfo, call)
		if !isMethodOfLease(f) || f.Name() != "Release" || !returnsError(pass, cur) || looksAtLoss(pass, cur) {
			continue
		}
		switch cur.Parent().Node().(type) {
		case *ast.ExprStmt:
			if reportsSuccess(pass, cur.Parent()) {
				pass.ReportRangef(call, "the error of Release says whether the lock was held until now; "+
					"without it, what this function reports as done may have overlapped with another holder's work")
			}
		case *ast.DeferStmt:
			if lookAtDefers {
				pass.ReportRangef(call, "the error of a deferred Release is dropped: where the lock was lost, "+
					"this function may report success; use Do, or join the error to the result")
			}
		}
	}
	return nil, nil
}

// around is the function that something is in.
func around(cur inspector.Cursor) inspector.Cursor {
	for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return f
	}
	return cur
}

// returnsError reports whether the last result of the function around a call is an error.
func returnsError(pass *analysis.Pass, call inspector.Cursor) bool {
	var results *ast.FieldList
	switch f := around(call).Node().(type) {
	case *ast.FuncDecl:
		results = f.Type.Results
	case *ast.FuncLit:
		results = f.Type.Results
	}
	return results.NumFields() > 0 && isError(pass.TypesInfo.TypeOf(results.List[len(results.List)-1].Type))
}

// looksAtLoss reports whether the function around a release asks the same lease whether it was lost.
func looksAtLoss(pass *analysis.Pass, release inspector.Cursor) bool {
	lease := receiver(pass, release.Node().(*ast.CallExpr))
	for cur := range around(release).Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := callee(pass.TypesInfo, call)
		if isMethodOfLease(f) && (f.Name() == "Err" || f.Name() == "Check") && receiver(pass, call) == lease {
			return true
		}
	}
	return false
}

// receiver is the variable or field whose method is called; nil where it is something else.
func receiver(pass *analysis.Pass, call *ast.CallExpr) types.Object {
	method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch x := ast.Unparen(method.X).(type) {
	case *ast.Ident:
		return pass.TypesInfo.Uses[x]
	case *ast.SelectorExpr:
		return pass.TypesInfo.Uses[x.Sel]
	}
	return nil
}

// reportsSuccess reports whether a return of nil, as the error, follows a statement in the same list.
func reportsSuccess(pass *analysis.Pass, statement inspector.Cursor) bool {
	for next, ok := statement.NextSibling(); ok; next, ok = next.NextSibling() {
		if r, ok := next.Node().(*ast.ReturnStmt); ok {
			return len(r.Results) > 0 && pass.TypesInfo.Types[r.Results[len(r.Results)-1]].IsNil()
		}
	}
	return false
}
