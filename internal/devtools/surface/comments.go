package main

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/packages"
)

// uncommented finds exported names of a package that have no comment. A comment on a group is one on each of it, and a
// field may have its own at the end of its line.
func uncommented(p *packages.Package) (problems []string) {
	complain := func(at token.Pos, name string) {
		problems = append(problems, p.Fset.Position(at).String()+": "+name+" is exported and has no comment")
	}
	hasDoc := false
	for _, file := range p.Syntax {
		hasDoc = hasDoc || file.Doc != nil
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && ofExported(d) && !isUsual[d.Name.Name] {
					complain(d.Pos(), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					inSpec(d, s, complain)
				}
			}
		}
	}
	if !hasDoc {
		problems = append(problems, p.PkgPath+": the package has no comment")
	}
	return problems
}

// isUsual has the methods that mean the same on every type.
var isUsual = map[string]bool{"Error": true, "String": true, "Unwrap": true}

// ofExported reports whether a function is none of a type, or of one that is exported. Methods that others'
// interfaces ask for need no comment on a type that is not.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.IsExported()
		default:
			return false
		}
	}
}

func inSpec(d *ast.GenDecl, s ast.Spec, complain func(token.Pos, string)) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		if d.Doc == nil && s.Doc == nil && s.Comment == nil {
			complain(s.Pos(), s.Name.Name)
		}
		if of, ok := s.Type.(*ast.StructType); ok {
			inFields(s.Name.Name, of.Fields, complain)
		}
		if of, ok := s.Type.(*ast.InterfaceType); ok {
			inFields(s.Name.Name, of.Methods, complain)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				complain(name.Pos(), name.Name)
			}
		}
	}
}

// inFields looks at fields and methods. The comment of a type is enough for one that is alone, and that of a field
// for those that follow it.
func inFields(of string, list *ast.FieldList, complain func(token.Pos, string)) {
	shared := countNames(list) == 1
	for _, f := range list.List {
		commented := f.Doc != nil || f.Comment != nil
		for _, name := range f.Names {
			if name.IsExported() && !commented && !shared {
				complain(name.Pos(), of+"."+name.Name)
			}
		}
		shared = shared || commented
	}
}

func countNames(list *ast.FieldList) (n int) {
	for _, f := range list.List {
		for _, name := range f.Names {
			if name.IsExported() {
				n++
			}
		}
	}
	return n
}
