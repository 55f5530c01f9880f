package driver

import (
	"os"
	"strings"
	"testing"
)

// The comment of holdfast.Open names each scheme, and the package that registers it, as a program that does
// not import it is told.
func TestOpenNamesAllSchemes(t *testing.T) {
	source, err := os.ReadFile("../client.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), "\nfunc Open(")
	if !found {
		t.Fatal("there is no holdfast.Open in client.go any more")
	}
	comment := before[strings.LastIndex(before, "\n\n"):]
	for scheme, pkg := range packages {
		named := false
		for line := range strings.Lines(comment) {
			named = named || strings.Contains(line, scheme+":") && strings.Contains(line, " "+pkg)
		}
		if !named {
			t.Errorf("it does not name %s: of package %s", scheme, pkg)
		}
	}
}
