package holdfastvet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// Marks are the variables of a function that a token has gone into, whenever that was.
type marks struct {
	info *types.Info
	vars map[types.Object]bool
}

// newMarks follows tokens through a function, until nothing more is marked.
func newMarks(pass *analysis.Pass, function inspector.Cursor) *marks {
	m := &marks{info: pass.TypesInfo, vars: make(map[types.Object]bool)}
	for before := -1; before < len(m.vars); {
		before = len(m.vars)
		for cur := range function.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.CallExpr)(nil)) {
			switch n := cur.Node().(type) {
			case *ast.AssignStmt:
				m.assigned(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				m.assigned(namesOf(n), n.Values)
			case *ast.CallExpr:
				m.called(n)
			}
		}
	}
	return m
}

// namesOf returns what a declaration sets.
func namesOf(spec *ast.ValueSpec) []ast.Expr {
	names := make([]ast.Expr, len(spec.Names))
	for i, name := range spec.Names {
		names[i] = name
	}
	return names
}

// assigned marks what is set to something with the token.
func (m *marks) assigned(left, right []ast.Expr) {
	for i, to := range left {
		from := right
		if len(left) == len(right) {
			from = right[i : i+1]
		}
		if m.any(from) {
			m.mark(to)
		}
	}
}

// called marks what a function may put the token into: its receiver and its other arguments, but for contexts, and for
// texts and numbers, which stay as they are.
func (m *marks) called(call *ast.CallExpr) {
	if onlySays(callee(m.info, call)) || !m.any(call.Args) {
		return
	}
	for _, arg := range call.Args {
		if t := m.info.TypeOf(arg); t != nil && !isContext(t) && !isPlain(t) {
			m.mark(arg)
		}
	}
	if method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		m.mark(method.X)
	}
}

func isPlain(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// onlySays reports whether a function prints what it is given, and keeps nothing.
func onlySays(f *types.Func) bool {
	switch packageOf(f) {
	case "log", "log/slog":
		return true
	case "fmt":
		return strings.HasPrefix(f.Name(), "Print")
	}
	return false
}

// mark marks the variable that an expression is, is a part of, or points to; not if it is used for other writes, too.
func (m *marks) mark(x ast.Expr) {
	if t := m.info.TypeOf(x); t == nil || isShared(t) {
		return
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v, ok := m.info.ObjectOf(x).(*types.Var); ok && !isLease(v.Type()) {
			m.vars[v] = true
		}
	case *ast.SelectorExpr:
		m.mark(x.X)
	case *ast.IndexExpr:
		m.mark(x.X)
	case *ast.StarExpr:
		m.mark(x.X)
	case *ast.UnaryExpr:
		m.mark(x.X)
	case *ast.CallExpr: // of a chain, such as r.Header().Set
		if method, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
			m.mark(method.X)
		}
	}
}

// isShared reports whether what has once carried a token goes on to carry other things.
func isShared(t types.Type) bool {
	switch pkg, name := named(t); {
	case isDatabase(pkg):
		return name == "DB" || name == "Conn" || name == "Pool"
	case pkg == "net/http":
		return name == "Client"
	}
	return false
}

func (m *marks) any(xs []ast.Expr) bool {
	for _, x := range xs {
		if m.mentions(x) {
			return true
		}
	}
	return false
}

// mentions reports whether an expression has the token in it: by name, by a variable that is marked, or as a lease.
// What a function literal does with a token stays in there.
func (m *marks) mentions(x ast.Node) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if t := m.info.TypeOf(n.X); t != nil && isLease(t) {
				found = found || n.Sel.Name == "Token"
				return false
			}
		case *ast.Ident:
			v, ok := m.info.ObjectOf(n).(*types.Var)
			found = found || ok && (m.vars[v] || isLease(v.Type()))
		}
		return !found
	})
	return found
}

// has reports whether a write carries the token: among its arguments, by the transaction or statement that it is of, or
// because what it makes gets it later. To a database nothing comes of what is in a context.
func (m *marks) has(write inspector.Cursor) bool {
	call := write.Node().(*ast.CallExpr)
	toDatabase := isDatabase(packageOf(callee(m.info, call)))
	for _, arg := range call.Args {
		if t := m.info.TypeOf(arg); !(toDatabase && t != nil && isContext(t)) && m.mentions(arg) {
			return true
		}
	}
	if method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if t := m.info.TypeOf(method.X); t != nil && !isShared(t) && m.mentions(method.X) {
			return true
		}
	}
	if a, ok := write.Parent().Node().(*ast.AssignStmt); ok {
		return m.mentions(a.Lhs[0])
	}
	return false
}
