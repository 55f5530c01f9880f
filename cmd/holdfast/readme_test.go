//go:build linux

package main

import (
	"regexp"
	"strings"
	"testing"
)

// differs is what differs from run to run in a transcript.
var differs = regexp.MustCompile(`«[^»]*»`)

// The commands in the picture of the README print what it shows. backup.sh is ours, and between the first command and
// the second the test waits until there is something to see.
func TestPictureIsTrue(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine{}, "")
	d.write(t, "backup.sh", "#!/bin/sh\necho backing up, with token $HOLDFAST_TOKEN\n")
	d.shell.run(t, "chmod +x backup.sh; export HOLDFAST_BACKEND=file:$HOME/locks.db")
	for _, one := range exchangesOf(t, readPage(t, "../../docs/pictures/terminal.txt")) {
		one.prints = differs.ReplaceAllString(one.prints, "...")
		d.do(t, one)
		if strings.HasSuffix(strings.TrimSpace(one.command), "&") {
			d.do(t, exchange{command: "await sh -c 'holdfast ls | grep -q sleep'"})
		}
	}
}

// What the README has in Go can be compiled.
func TestGoOfReadme(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine{}, "")
	program := regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindStringSubmatch(readPage(t, "../../README.md"))
	d.write(t, "main.go", readmeBefore+program[1]+"\n\treturn err\n}\n")
	if out := d.shell.run(t, "go vet ."); strings.TrimSpace(out) != "" {
		t.Errorf("it cannot be compiled:\n%s", out)
	}
}

const readmeBefore = `package main

import (
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast"
)

func main() {}

func ship(ctx context.Context, db *sql.DB) error {
`
