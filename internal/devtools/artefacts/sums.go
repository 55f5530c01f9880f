package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// sumsFile is the name of the list of checksums, as sha256sum --check reads it.
const sumsFile = "SHA256SUMS"

// checksums writes those of the archives and packages that were made, and returns them by name. A package writes the
// version of a preview in its own way.
func (m *maker) checksums() (map[string]string, error) {
	sums := make(map[string]string)
	var lines strings.Builder
	for _, name := range slices.Sorted(slices.Values(m.made)) {
		text, err := os.ReadFile(filepath.Join(m.out, name))
		if err != nil {
			return nil, err
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		fmt.Fprintf(&lines, "%s  %s\n", sums[name], name)
	}
	return sums, os.WriteFile(filepath.Join(m.out, sumsFile), []byte(lines.String()), 0o644)
}

//go:embed packaging/holdfast.rb.tmpl
var formulaText string

// formula writes the file by which Homebrew installs the archives.
func (m *maker) formula(sums map[string]string) error {
	archive := func(system, arch string) (map[string]string, error) {
		name := m.stem(target{system, arch}) + ".tar.gz"
		if sums[name] == "" {
			return nil, fmt.Errorf("there is no %s", name)
		}
		return map[string]string{"Name": name, "Sum": sums[name]}, nil
	}
	parsed, err := template.New("formula").Funcs(template.FuncMap{"archive": archive}).Parse(formulaText)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	about := map[string]any{
		"Tag": m.version, "Version": m.plain(),
		"Systems": map[string]string{"darwin": "macos", "linux": "linux"}, // in Go's words, and in Homebrew's
		"Archs":   map[string]string{"amd64": "intel", "arm64": "arm"},
	}
	if err := parsed.Execute(&text, about); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.out, "holdfast.rb"), text.Bytes(), 0o644)
}
