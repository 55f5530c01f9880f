package holdfastvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// LockCtx finds calls in a section that get a context from outside of it: that does not end when the lock is lost, so
// the work goes on beside the next holder's.
var LockCtx = &analysis.Analyzer{
	Name: "lockctx",
	Doc: `find work under a lock whose context does not end with the lock

The function that Do, Election.Run and others call gets a context that ends when the lock is lost. A call in it that
gets a context from outside instead goes on when somebody else has the lock:

	mutex.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		return ship(ctx, order) // want held
	})

It does not report contexts from context.WithoutCancel, contexts that the section itself assigns, and contexts for
deferred calls, goroutines, functions that AfterFunc calls, loggers, methods of a lease, and functions that take a value
out of them.`,
	URL:      page + "#lockctx",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      lockCtx,
}

func lockCtx(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	for cur := range in.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if mayOutlive(callee(pass.TypesInfo, call)) {
			continue
		}
		for _, arg := range call.Args {
			if outer := contextVariable(pass, arg); outer != nil {
				lookAtContext(pass, cur, ast.Unparen(arg), outer)
			}
		}
	}
	return nil, nil
}

// mayOutlive reports whether a function does well with a context that goes on: because it looks at the lease itself,
// asks whether another thing has ended, or only takes values.
func mayOutlive(f *types.Func) bool {
	switch packageOf(f) {
	case "log/slog":
		return true
	case "context":
		return f.Name() == "WithoutCancel" || f.Name() == "Cause" || f.Name() == "AfterFunc"
	}
	return isMethodOfLease(f) || takesFrom(f)
}

// takesFrom reports whether a function is named like one that takes a value out of a context, such as SpanFromContext.
func takesFrom(f *types.Func) bool {
	return f != nil && f.Signature().Params().Len() == 1 && strings.Contains(f.Name(), "From")
}

// contextVariable is the variable of a function that an argument consists of, if it is a context, or if it is a request
// to a server whose context the argument is.
func contextVariable(pass *analysis.Pass, arg ast.Expr) *types.Var {
	isWanted := isContext
	x := ast.Unparen(arg)
	if request := requestOf(pass, x); request != nil {
		x, isWanted = request, func(types.Type) bool { return true }
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || !isWanted(v.Type()) || v.Parent() == pass.Pkg.Scope() || v.Pkg() != pass.Pkg {
		return nil
	}
	return v
}

// requestOf is the request of net/http whose context an expression is; nil where it is something else.
func requestOf(pass *analysis.Pass, x ast.Expr) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := callee(pass.TypesInfo, call)
	method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || packageOf(f) != "net/http" || f.Name() != "Context" {
		return nil
	}
	return ast.Unparen(method.X)
}

// lookAtContext reports an argument of a call in a section if it comes from outside of the innermost one.
func lookAtContext(pass *analysis.Pass, call inspector.Cursor, arg ast.Expr, outer *types.Var) {
	section := sectionAround(pass, call, outer)
	if section == nil {
		return
	}
	own := ownContext(pass, section)
	if own != nil && passes(pass, call.Node().(*ast.CallExpr), own) || assigns(pass, section, outer) {
		return
	}
	d, name := analysis.Diagnostic{Pos: arg.Pos(), End: arg.End()}, types.ExprString(arg)
	switch {
	case own == nil:
		d.Message = name + " is from outside of the section and does not end when the lock is lost; " +
			"name the context that the section gets, and use that"
	default:
		d.Message = name + " is from outside of the section and does not end when the lock is lost; use " +
			own.Name()
		d.SuggestedFixes = replaced(pass, arg, own)
	}
	pass.Report(d)
}

// sectionAround is the innermost section that a call is in, provided that the variable comes from outside of it; nil
// also where the call is to outlive the section, or comes after it.
func sectionAround(pass *analysis.Pass, call inspector.Cursor, outer *types.Var) *ast.FuncLit {
	for cur := range call.Enclosing((*ast.FuncLit)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil)) {
		f, ok := cur.Node().(*ast.FuncLit)
		if !ok || within(f, outer) || isCalledLater(pass, cur) {
			return nil
		}
		if isSection(signature(pass.TypesInfo, f)) {
			return f
		}
	}
	return nil
}

// isCalledLater reports whether AfterFunc calls a function: in a goroutine of its own, mostly once the section's
// context has ended.
func isCalledLater(pass *analysis.Pass, function inspector.Cursor) bool {
	call, ok := function.Parent().Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	f := callee(pass.TypesInfo, call)
	return f != nil && f.Name() == "AfterFunc" && (packageOf(f) == "context" || packageOf(f) == "time")
}

// within reports whether a variable is declared in a function, as a parameter or below.
func within(f ast.Node, v *types.Var) bool { return f.Pos() <= v.Pos() && v.Pos() < f.End() }

// ownContext is the context parameter of a section, if it has a name.
func ownContext(pass *analysis.Pass, section *ast.FuncLit) *types.Var {
	own := signature(pass.TypesInfo, section).Params().At(0)
	if own.Name() == "" || own.Name() == "_" {
		return nil
	}
	return own
}

// passes reports whether a call has a variable among its arguments.
func passes(pass *analysis.Pass, call *ast.CallExpr, v *types.Var) bool {
	for _, arg := range call.Args {
		if id, ok := ast.Unparen(arg).(*ast.Ident); ok && pass.TypesInfo.Uses[id] == v {
			return true
		}
	}
	return false
}

// assigns reports whether something in a function assigns to a variable, or takes its address, so that others may.
func assigns(pass *analysis.Pass, f ast.Node, v *types.Var) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		var set []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			set = n.Lhs
		case *ast.RangeStmt:
			set = []ast.Expr{n.Key, n.Value}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				set = []ast.Expr{n.X}
			}
		}
		for _, x := range set {
			id, ok := ast.Unparen(x).(*ast.Ident)
			found = found || ok && pass.TypesInfo.Uses[id] == v
		}
		return !found
	})
	return found
}

// replaced is the mend of an argument, where the name of the section's own context means that.
func replaced(pass *analysis.Pass, arg ast.Expr, own *types.Var) []analysis.SuggestedFix {
	if _, found := pass.Pkg.Scope().Innermost(arg.Pos()).LookupParent(own.Name(), arg.Pos()); found != own {
		return nil
	}
	return []analysis.SuggestedFix{{
		Message:   "use " + own.Name(),
		TextEdits: []analysis.TextEdit{{Pos: arg.Pos(), End: arg.End(), NewText: []byte(own.Name())}},
	}}
}
