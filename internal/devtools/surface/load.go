package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/holdfast-go/holdfast/internal/devtools/source"
)

const root = "github.com/holdfast-go/holdfast"

// load returns what others see of the packages: those that programs can import, and the commands that people install.
func load(patterns []string) ([]*packages.Package, error) {
	loaded, err := source.Load("linux", false, patterns)
	if err != nil {
		return nil, err
	}
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool { return !isSeen(p) })
	var errs []error
	for _, p := range loaded {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	}
	if len(loaded) == 0 {
		errs = append(errs, fmt.Errorf("nothing that others see matches %q", patterns))
	}
	return loaded, errors.Join(errs...)
}

func isSeen(p *packages.Package) bool {
	path := p.PkgPath + "/"
	return !strings.Contains(path, "/internal/") && (p.Name != "main" || strings.Contains(path, "/cmd/"))
}
