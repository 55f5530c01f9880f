package main

import (
	"bytes"
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// api lists the exported names of a package with their types, one in each line, sorted.
func api(p *packages.Package) []byte {
	var lines []string
	qualify := types.RelativeTo(p.Types)
	for _, name := range p.Types.Scope().Names() {
		object := p.Types.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		lines = append(lines, describe(object, qualify))
		if named, ok := object.(*types.TypeName); ok && !named.IsAlias() {
			lines = append(lines, members(named, qualify)...)
		}
	}
	slices.Sort(lines)
	var b bytes.Buffer
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// describe is the line of a name. Of a type it says of which sort it is, and leaves the rest to its members.
func describe(object types.Object, qualify types.Qualifier) string {
	named, ok := object.(*types.TypeName)
	switch {
	case !ok:
		return types.ObjectString(object, qualify)
	case named.IsAlias():
		return "type " + named.Name() + " = " + types.TypeString(types.Unalias(named.Type()), qualify)
	}
	switch t := named.Type().Underlying().(type) {
	case *types.Struct:
		return "type " + named.Name() + " struct"
	case *types.Interface:
		return "type " + named.Name() + " interface"
	default:
		return "type " + named.Name() + " " + types.TypeString(t, qualify)
	}
}

// members lists the exported fields and methods of a type.
func members(named *types.TypeName, qualify types.Qualifier) (lines []string) {
	if s, ok := named.Type().Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				lines = append(lines, fmt.Sprintf("type %s, field %s %s", named.Name(), f.Name(),
					types.TypeString(f.Type(), qualify)))
			}
		}
	}
	of := named.Type()
	if !types.IsInterface(of) {
		of = types.NewPointer(of)
	}
	for m := range types.NewMethodSet(of).Methods() {
		if m.Obj().Exported() {
			signature := types.TypeString(m.Type(), qualify)
			lines = append(lines, fmt.Sprintf("type %s, method %s%s", named.Name(), m.Obj().Name(),
				signature[len("func"):]))
		}
	}
	return lines
}
