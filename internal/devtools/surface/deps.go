package main

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// dependencies lists the modules of others that whoever imports or builds the package brings along, without versions.
func dependencies(p *packages.Package) []byte {
	modules, seen := make(map[string]bool), make(map[*packages.Package]bool)
	var visit func(*packages.Package)
	visit = func(p *packages.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		if m := p.Module; m != nil && m.Path != root && !strings.HasPrefix(m.Path, root+"/") {
			modules[m.Path] = true
		}
		for _, imported := range p.Imports {
			visit(imported)
		}
	}
	visit(p)
	var b bytes.Buffer
	for _, path := range sorted(modules) {
		b.WriteString(path + "\n")
	}
	return b.Bytes()
}

func sorted(set map[string]bool) (keys []string) {
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
