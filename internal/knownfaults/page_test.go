package knownfaults

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The page has the table, and names each version that we test and that has one of its faults.
func TestVersionsPageNamesFaults(t *testing.T) {
	page, err := os.ReadFile("../../docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{faultTable(), versionTable(), "as of " + Checked} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/versions.md does not have:\n\n%s", want)
		}
	}
}

var levels = map[driver.Level]string{driver.Fine: "ok", driver.Warning: "warning", driver.Unsafe: "unsafe"}

func faultTable() string {
	var b strings.Builder
	b.WriteString("| server | versions | fault | what it can cost | doctor says |\n|---|---|---|---|---|\n")
	for _, f := range table {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Engine, ranges(f), link(f.Ref), f.Costs, levels[f.Level])
	}
	return b.String()
}

func ranges(f Fault) string {
	var all []string
	for _, r := range f.In {
		text := "all"
		switch {
		case r.From != "" && r.Before != "":
			text = r.From + " to before " + r.Before
		case r.Before != "":
			text = "before " + r.Before
		case r.From != "":
			text = "from " + r.From + " on"
		}
		all = append(all, text)
	}
	text := strings.Join(all, ", ")
	if f.Only != "" {
		text += ", with " + string(f.Only)
	}
	return text
}

// link is a reference as the page has it, by the name that people call it by.
func link(ref string) string {
	if !strings.HasPrefix(ref, "https://") {
		return ref
	}
	return "[" + nameOf(ref) + "](" + ref + ")"
}

func nameOf(ref string) string {
	name := path.Base(strings.TrimSuffix(ref, "/"))
	if parts := strings.Split(ref, "/"); len(parts) > 4 && parts[2] == "github.com" {
		name = parts[4] + "#" + name
	}
	return name
}

func versionTable() string {
	var b strings.Builder
	b.WriteString("| tested version | known faults |\n|---|---|\n")
	for _, v := range servers.Versions {
		if v.Standing != servers.Usual && v.Standing != servers.Tested {
			continue
		}
		all, some := Of(v.Engine, v.Number, InCluster, WithSentinels, WithGalera, BlockingPops)
		told := names(all)
		if len(some) > 0 {
			told = strings.TrimPrefix(told+"; some of its releases: "+names(some), "; ")
		}
		if told != "" {
			fmt.Fprintf(&b, "| %s %s | %s |\n", v.Engine, v.Number, told)
		}
	}
	return b.String()
}

func names(faults []Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, nameOf(f.Ref))
	}
	return strings.Join(all, ", ")
}
