package main

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// What others link to is there, under the question that the experiment answers.
func TestDocsHaveAllExperiments(t *testing.T) {
	text, err := os.ReadFile("../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Join(strings.Fields(string(text)), " ")
	for _, e := range experiment.All() {
		if heading := "### " + e.Name + " **" + e.Question + "**"; !strings.Contains(docs, heading) {
			t.Errorf("docs/lab.md lacks %q", heading)
		}
	}
}
