package report

import (
	"os"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// Picture writes a chart as a file of its own, light or dark as whoever looks at it has it.
func Picture(name string, c experiment.Chart) error {
	css, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(drawing(c, largest(c), string(css)+"svg{background:var(--paper)}")+"\n"), 0o644)
}
