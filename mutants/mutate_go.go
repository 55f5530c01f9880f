package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"strings"
)

// Kinds of changes.
const (
	comparison = "compare"   // < is <=, == is !=
	logic      = "logic"     // && is ||
	arithmetic = "arith"     // + is -, max is min
	constant   = "constant"  // 1 is 2, true is false
	condition  = "condition" // if x is if !x
	swallowed  = "swallow"   // if err != nil { return err } is never so
	dropped    = "drop"      // a statement is left out
	undeferred = "defer"     // a deferred call is left out
	swapped    = "swap"      // two statements are the other way round
)

// other is what an operator becomes.
var other = map[token.Token]struct{ kind, instead string }{
	token.LSS: {comparison, "<="}, token.LEQ: {comparison, "<"},
	token.GTR: {comparison, ">="}, token.GEQ: {comparison, ">"},
	token.EQL: {comparison, "!="}, token.NEQ: {comparison, "=="},
	token.LAND: {logic, "||"}, token.LOR: {logic, "&&"},
	token.ADD: {arithmetic, "-"}, token.SUB: {arithmetic, "+"},
}

// names are what an identifier becomes.
var names = map[string]struct{ kind, instead string }{
	"true": {constant, "false"}, "false": {constant, "true"},
	"max": {arithmetic, "min"}, "min": {arithmetic, "max"},
}

// mutateGo returns the mutants of a file of Go.
func mutateGo(name, source string) ([]mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := &goMutator{source: source, offset: func(p token.Pos) int { return files.Position(p).Offset }}
	ast.Inspect(file, m.visit)
	return named(name, source, m.found), nil
}

type goMutator struct {
	source string
	offset func(token.Pos) int
	found  []mutant
}

func (m *goMutator) text(n ast.Node) string { return m.source[m.offset(n.Pos()):m.offset(n.End())] }

func (m *goMutator) replace(kind string, from, to token.Pos, instead string) {
	m.found = append(m.found, mutant{kind: kind, from: m.offset(from), to: m.offset(to), instead: instead})
}

// visit notes what may be changed about a node itself; it is called for each.
func (m *goMutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType, *ast.StructType, *ast.InterfaceType:
		return false // changes there do not compile, or change no behaviour
	case *ast.BinaryExpr:
		if o, ok := other[n.Op]; ok {
			m.replace(o.kind, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), o.instead)
		}
	case *ast.BasicLit:
		m.constant(n)
	case *ast.Ident:
		if o, ok := names[n.Name]; ok {
			m.replace(o.kind, n.Pos(), n.End(), o.instead)
		}
	case *ast.IfStmt:
		m.condition(n)
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CommClause:
		m.statements(n.Body)
	}
	return true
}

// constant makes a number greater by one.
func (m *goMutator) constant(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	if v, ok := new(big.Int).SetString(n.Value, 0); ok {
		m.replace(constant, n.Pos(), n.End(), v.Add(v, big.NewInt(1)).String())
	}
}

// condition negates what is no comparison, and takes no notice of errors that are returned.
func (m *goMutator) condition(n *ast.IfStmt) {
	compares := false
	if b, ok := n.Cond.(*ast.BinaryExpr); ok {
		compares = other[b.Op].kind == comparison
		if x, ok := b.X.(*ast.Ident); ok && b.Op == token.NEQ && m.text(b.Y) == "nil" && m.returns(n.Body, x.Name) {
			m.replace(swallowed, n.Cond.Pos(), n.Cond.End(), "false && "+m.text(n.Cond))
		}
	}
	if !compares {
		m.replace(condition, n.Cond.Pos(), n.Cond.End(), fmt.Sprintf("!(%s)", m.text(n.Cond)))
	}
}

// returns reports whether a block ends with a return that names something.
func (m *goMutator) returns(b *ast.BlockStmt, name string) bool {
	if len(b.List) == 0 {
		return false
	}
	last, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok && strings.Contains(m.text(last), name)
}

// statements leaves each out, and swaps neighbours.
func (m *goMutator) statements(list []ast.Stmt) {
	for i, s := range list {
		switch s.(type) {
		case *ast.DeferStmt:
			m.replace(undeferred, s.Pos(), s.End(), blank(m.text(s)))
		default:
			if acts(s) {
				m.replace(dropped, s.Pos(), s.End(), blank(m.text(s)))
			}
		}
		if i > 0 && acts(list[i-1]) && acts(s) {
			before := list[i-1]
			between := m.source[m.offset(before.End()):m.offset(s.Pos())]
			m.replace(swapped, before.Pos(), s.End(), m.text(s)+between+m.text(before))
		}
	}
}

// acts reports whether a statement does something, and declares nothing.
func acts(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}
