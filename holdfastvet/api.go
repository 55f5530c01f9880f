package holdfastvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// root is the package whose names the checks know. They go by types rather than by lists of functions, so that they
// also see what a program puts around them, and what is added to the package.
const root = "github.com/holdfast-go/holdfast"

// named is where a type, or what it points to, is declared; nothing where it has no name.
func named(t types.Type) (pkg, name string) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", ""
	}
	return n.Obj().Pkg().Path(), n.Obj().Name()
}

// isNamed reports whether t is the type of this name in a package, or a pointer to it.
func isNamed(t types.Type, pkg, name string) bool {
	p, n := named(t)
	return p == pkg && n == name
}

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

// isLease reports whether t is what an acquisition returns: one lease, or several.
func isLease(t types.Type) bool { return isNamed(t, root, "Lease") || isNamed(t, root, "Leases") }

// isSection reports whether a function has what Do, Election.Run and others give to the work under a lock: a context
// and the lease.
func isSection(sig *types.Signature) bool {
	params := sig.Params()
	return params.Len() == 2 && isContext(params.At(0).Type()) && isLease(params.At(1).Type())
}

// signature is that of a function literal.
func signature(info *types.Info, f *ast.FuncLit) *types.Signature {
	sig, _ := info.TypeOf(f).(*types.Signature)
	if sig == nil {
		sig = new(types.Signature)
	}
	return sig
}

// callee is the function or method that a call names, of an interface too; nil where it is only known at run time.
func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(info, call).(*types.Func)
	return f
}

// packageOf is the path of the package that a function belongs to.
func packageOf(f *types.Func) string {
	if f == nil || f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path()
}

// isMethodOf reports whether a function is a method of a type of Holdfast.
func isMethodOf(f *types.Func, name string) bool {
	return f != nil && f.Signature().Recv() != nil && isNamed(f.Signature().Recv().Type(), root, name)
}

// isMethodOfLease reports whether a function is a method of a lease, or of several.
func isMethodOfLease(f *types.Func) bool { return isMethodOf(f, "Lease") || isMethodOf(f, "Leases") }

// acquires reports whether a call acquires a lock, or several: it is of Holdfast and returns a lease and an error.
func acquires(info *types.Info, call *ast.CallExpr) bool {
	f := callee(info, call)
	if packageOf(f) != root {
		return false
	}
	results := f.Signature().Results()
	return results.Len() == 2 && isLease(results.At(0).Type()) && isError(results.At(1).Type())
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isTest reports whether something is in the file of a test, or in another that imports package testing.
func isTest(pass *analysis.Pass, n ast.Node) bool {
	if strings.HasSuffix(pass.Fset.Position(n.Pos()).Filename, "_test.go") {
		return true
	}
	isTesting := func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }
	return slices.ContainsFunc(pass.Files, func(f *ast.File) bool {
		return f.FileStart <= n.Pos() && n.Pos() < f.FileEnd && slices.ContainsFunc(f.Imports, isTesting)
	})
}
