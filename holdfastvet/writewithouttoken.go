package holdfastvet

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// WriteWithoutToken finds writes under a lock that do not carry its fencing token. It is not one of Analyzers: many a
// resource cannot compare tokens, and many a write needs none.
var WriteWithoutToken = &analysis.Analyzer{
	Name: "writewithouttoken",
	Doc: `find writes under a lock without its fencing token

A holder that was paused for longer than its lease lives does not know that the lock is lost. Only the resource can
refuse its late write, by the token of the lease:

	mutex.Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		_, err := db.ExecContext(ctx, "UPDATE orders SET shipped = true WHERE id = 42") // want lease.Token() in it
		return err
	})

It runs only when it is named, because not every write needs the token. Writes are statements of database/sql and pgx,
and requests of net/http whose method is not GET, HEAD, OPTIONS or TRACE; -writewithouttoken.funcs names more functions.
A write carries the token if one of its arguments comes from it, however far. A request carries it if one of its headers
does, and a transaction if one of its statements does.`,
	URL:      page + "#writewithouttoken",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      writeWithoutToken,
}

func init() {
	WriteWithoutToken.Flags.Var(&moreWrites, "funcs",
		"`names` of functions that write, too, with commas between them: "+
			"example.com/store.Put,(*example.com/store.Client).Put")
}

func writeWithoutToken(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	for function := range in.Root().Preorder((*ast.FuncDecl)(nil)) {
		var marked *marks // what has the token, once that is asked for
		for cur := range function.Preorder((*ast.CallExpr)(nil)) {
			if !isWrite(pass, cur) || !underLock(pass, cur) {
				continue
			}
			if marked == nil {
				marked = newMarks(pass, function)
			}
			if !marked.has(cur) {
				pass.ReportRangef(cur.Node(), "this write does not carry the fencing token of the lock: "+
					"one that is late goes over what the next holder wrote")
			}
		}
	}
	return nil, nil
}

// underLock reports whether a call is in a function that gets a lease, or comes after an acquisition in its function.
func underLock(pass *analysis.Pass, call inspector.Cursor) bool {
	for function := range call.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if getsLease(pass, function.Node()) {
			return true
		}
		for cur := range function.Preorder((*ast.CallExpr)(nil)) {
			if acquires(pass.TypesInfo, cur.Node().(*ast.CallExpr)) && heldAt(pass, cur.Parent(), call) {
				return true
			}
		}
	}
	return false
}

// getsLease reports whether a function has a lease among its parameters.
func getsLease(pass *analysis.Pass, function ast.Node) bool {
	var params *ast.FieldList
	switch f := function.(type) {
	case *ast.FuncDecl:
		params = f.Type.Params
	case *ast.FuncLit:
		params = f.Type.Params
	}
	for _, p := range params.List {
		if isLease(pass.TypesInfo.TypeOf(p.Type)) {
			return true
		}
	}
	return false
}

// heldAt reports whether a call is in one of the statements that follow an acquisition in its list, before one that
// releases a lease.
func heldAt(pass *analysis.Pass, acquisition, call inspector.Cursor) bool {
	for next, ok := acquisition.NextSibling(); ok; next, ok = next.NextSibling() {
		switch {
		case next.Contains(call):
			return true
		case releases(pass, next):
			return false
		}
	}
	return false
}

// releases reports whether a statement releases a lease whatever happens: not in a branch, and not at the end.
func releases(pass *analysis.Pass, statement inspector.Cursor) bool {
	switch statement.Node().(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IfStmt:
	default:
		return false
	}
	for cur := range statement.Preorder((*ast.CallExpr)(nil), (*ast.BlockStmt)(nil)) {
		call, ok := cur.Node().(*ast.CallExpr)
		if !ok {
			return false
		}
		if f := callee(pass.TypesInfo, call); isMethodOfLease(f) && f.Name() == "Release" {
			return true
		}
	}
	return false
}
