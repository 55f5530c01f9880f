package holdfastvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"
)

// Ways are what a function may do after an acquisition.
type ways struct {
	pass  *analysis.Pass
	graph *cfg.CFG
	start ast.Node            // the statement that acquires
	lease *types.Var          // and the variables that it sets
	err   *types.Var          // nil where that is no variable
	given map[*types.Var]bool // what conditions must have been for the acquisition
	uses  map[*ast.Ident]use
	been  map[step]bool
}

// A step is a block that is come to, and whether err then still tells of the acquisition.
type step struct {
	block *cfg.Block
	tells bool
}

// newWays looks at a variable of the function around a call. It returns nil where that belongs to somebody else.
func newWays(pass *analysis.Pass, call inspector.Cursor, lease *types.Var) *ways {
	cfgs := pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	w := &ways{pass: pass, start: call.Parent().Node(), lease: lease}
	w.uses, w.been = make(map[*ast.Ident]use), make(map[step]bool)
	for function := range call.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		var body *ast.BlockStmt
		switch f := function.Node().(type) {
		case *ast.FuncDecl:
			body, w.graph = f.Body, cfgs.FuncDecl(f)
		case *ast.FuncLit:
			body, w.graph = f.Body, cfgs.FuncLit(f)
		}
		if w.graph == nil || lease == nil || lease.Pos() < body.Pos() || body.End() <= lease.Pos() {
			return nil // a parameter, a result, or another function's
		}
		w.given = w.givenAt(call, function)
		for id := range function.Preorder((*ast.Ident)(nil)) {
			name := id.Node().(*ast.Ident)
			switch v, _ := pass.TypesInfo.Uses[name].(*types.Var); {
			case v == nil:
			case v == lease:
				w.uses[name] = useOf(id)
			case w.isContext(function, v):
				w.uses[name] = useOfContext(id)
			}
		}
		return w
	}
	return nil
}

// isContext reports whether a variable of a function is the lease's context, and nothing else.
func (w *ways) isContext(function inspector.Cursor, v *types.Var) bool {
	if !isContext(v.Type()) || assigns(w.pass, function.Node(), v) {
		return false
	}
	for cur := range function.Preorder((*ast.AssignStmt)(nil)) {
		a := cur.Node().(*ast.AssignStmt)
		for i, left := range a.Lhs {
			if id, ok := left.(*ast.Ident); ok && w.pass.TypesInfo.Defs[id] == v && len(a.Lhs) == len(a.Rhs) {
				return w.makesContext(a.Rhs[i])
			}
		}
	}
	return false
}

// makesContext reports whether an expression is a call of the lease's Context.
func (w *ways) makesContext(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Context" && w.is(method.X, w.lease)
}

// released reports whether anything in the function lets the lease go.
func (w *ways) released() bool {
	for _, u := range w.uses {
		if u == letsGo {
			return true
		}
	}
	return false
}

// toEnd finds a way from the acquisition to an end of the function on which the lease is held. It is the return at that
// end; nil where there is no such way.
func (w *ways) toEnd() *ast.ReturnStmt {
	for _, b := range w.graph.Blocks {
		for i, n := range b.Nodes {
			if n == w.start {
				return w.through(b, b.Nodes[i+1:], w.err != nil)
			}
		}
	}
	return nil // it cannot be reached
}

// through goes on with what is left of a block.
func (w *ways) through(b *cfg.Block, nodes []ast.Node, tells bool) *ast.ReturnStmt {
	for _, n := range nodes {
		if n == w.start || w.letsGo(n) || tells && (w.switchesOnErr(b, n) || w.copiesErr(n)) {
			return nil
		}
		tells = tells && !w.setsErr(n)
	}
	if end := b.Return(); end != nil {
		return end
	}
	var condition ast.Expr
	if len(b.Succs) == 2 && len(b.Nodes) > 0 {
		condition, _ = b.Nodes[len(b.Nodes)-1].(ast.Expr)
	}
	for i, next := range b.Succs {
		if condition != nil && w.rulesOut(condition, i == 0, tells) {
			continue
		}
		if s := (step{next, tells}); !w.been[s] {
			w.been[s] = true
			if end := w.through(next, next.Nodes, tells); end != nil {
				return end
			}
		}
	}
	return nil
}

// letsGo reports whether the lease is released, or may have ended, in a statement. Where nothing ever lets it go,
// looking whether it has ended is no excuse.
func (w *ways) letsGo(n ast.Node) (found bool) {
	least := mayEnd
	if !w.released() {
		least = letsGo
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if u, ok := w.uses[id]; ok && u != ignored && u >= least {
				found = true
			}
		}
		return !found
	})
	return found
}

// switchesOnErr reports whether a node of a block is the tag of a switch on err or its type, whose cases are not looked
// into.
func (w *ways) switchesOnErr(b *cfg.Block, n ast.Node) bool {
	if s, ok := n.(*ast.ExprStmt); ok {
		onType, ok := s.X.(*ast.TypeAssertExpr)
		return ok && onType.Type == nil && w.mentionsErr(onType.X)
	}
	_, ok := n.(ast.Expr)
	isCondition := len(b.Succs) == 2 && n == b.Nodes[len(b.Nodes)-1]
	return ok && !isCondition && w.mentionsErr(n)
}

// copiesErr reports whether a statement keeps err, or what follows from it, in a variable: conditions on that are not
// understood.
func (w *ways) copiesErr(n ast.Node) bool {
	var kept []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		kept = n.Rhs
	case *ast.ValueSpec:
		kept = n.Values
	}
	return slices.ContainsFunc(kept, func(x ast.Expr) bool { return w.mentionsErr(x) })
}

// setsErr reports whether a statement gives err another meaning.
func (w *ways) setsErr(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, left := range a.Lhs {
		if id, ok := left.(*ast.Ident); ok && w.pass.TypesInfo.ObjectOf(id) == w.err {
			return true
		}
	}
	return false
}

// rulesOut reports whether the lock is not held where a condition has come out so: because the acquisition has failed.
// A condition on its error that is not understood rules out both ways.
func (w *ways) rulesOut(condition ast.Expr, is, tells bool) bool {
	if w.failed(condition, is, tells) || w.contradicts(condition, is) {
		return true
	}
	return tells && w.mentionsErr(condition) && !w.failed(condition, !is, tells)
}

// failed reports whether the acquisition has failed where a condition has come out so.
func (w *ways) failed(condition ast.Expr, is, tells bool) bool {
	switch x := ast.Unparen(condition).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && w.failed(x.X, !is, tells)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			left, right := w.failed(x.X, is, tells), w.failed(x.Y, is, tells)
			if is == (x.Op == token.LAND) { // both came out so
				return left || right
			}
			return left && right
		case token.EQL, token.NEQ:
			equal := is == (x.Op == token.EQL)
			return w.isNil(x.Y) && (w.is(x.X, w.lease) && equal || tells && w.is(x.X, w.err) && !equal)
		}
	case *ast.CallExpr:
		return is && tells && tellsErrors(callee(w.pass.TypesInfo, x)) && w.mentionsErr(x)
	}
	return false
}

// tellsErrors reports whether a function is true only of what is an error: errors.Is, or one that is named like it. Of
// others that is not known, such as of one that reports an error to somebody, and is true if there was none.
func tellsErrors(f *types.Func) bool {
	return packageOf(f) == "errors" || f != nil && strings.HasPrefix(strings.ToLower(f.Name()), "is")
}

// givenAt returns the variables that are conditions of the statements around a call, and that stay as they are: each
// with its value, where the call is reached.
func (w *ways) givenAt(call, function inspector.Cursor) map[*types.Var]bool {
	given := make(map[*types.Var]bool)
	for cur := range call.Enclosing((*ast.IfStmt)(nil)) {
		around := cur.Node().(*ast.IfStmt)
		id, is := positive(around.Cond)
		v, ok := w.pass.TypesInfo.Uses[id].(*types.Var)
		inBody := around.Body.Pos() <= call.Node().Pos() && call.Node().Pos() < around.Body.End()
		inElse := around.Else != nil && around.Else.Pos() <= call.Node().Pos()
		if ok && (inBody || inElse) && function.Contains(cur) && w.stays(call, function, v) {
			given[v] = is == inBody
		}
	}
	return given
}

// stays reports whether a variable of a function has one value for as long as the lease is held after a call: nothing
// assigns to it, and it is not another one in the next turn of a loop, into which the lease goes.
func (w *ways) stays(call, function inspector.Cursor, v *types.Var) bool {
	for loop := range call.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if within(loop.Node(), v) && !within(loop.Node(), w.lease) {
			return false
		}
	}
	return !assigns(w.pass, function.Node(), v)
}

// positive is the variable that a condition consists of, and what that is where the condition is true.
func positive(condition ast.Expr) (id *ast.Ident, is bool) {
	switch x := ast.Unparen(condition).(type) {
	case *ast.Ident:
		return x, true
	case *ast.UnaryExpr:
		id, is = positive(x.X)
		return id, is != (x.Op == token.NOT)
	}
	return nil, false
}

// contradicts reports whether a condition cannot have come out so, as one around the acquisition came out otherwise.
func (w *ways) contradicts(condition ast.Expr, is bool) bool {
	id, when := positive(condition)
	v, _ := w.pass.TypesInfo.Uses[id].(*types.Var)
	given, known := w.given[v]
	return known && is != (given == when)
}

func (w *ways) is(x ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && v != nil && w.pass.TypesInfo.Uses[id] == v
}

func (w *ways) isNil(x ast.Expr) bool { return w.pass.TypesInfo.Types[x].IsNil() }

func (w *ways) mentionsErr(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		found = found || ok && w.is(x, w.err)
		return !found
	})
	return found
}
