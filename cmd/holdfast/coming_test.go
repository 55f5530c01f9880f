//go:build linux

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/coming-from.md print what the page shows, ours and those that they replace, and what is in Go
// can be compiled.
func TestComingFrom(t *testing.T) {
	t.Parallel()
	const page = "../../docs/coming-from.md"
	follow(t, page, engine{
		folders: []string{"var/lib/jobs"},
		begin:   func(t *testing.T, d *desk) { d.startEtcd(t, nil) },
		snippet: func(t *testing.T, d *desk, content string) { d.addSnippet(t, content) },
	})
}

// importLine is a line of a snippet that says what it is about.
var importLine = regexp.MustCompile(`(?m)^// ([a-z][\w./-]+)$`)

// snippetFile makes a file of a snippet: a function that has what snippets may use.
const snippetFile = `package snippet

import (
	"context"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	holdfastclient "github.com/holdfast-go/holdfast"
%s)

type (
	_ = time.Duration
	_ = clientv3.Client
)

func snippet(ctx context.Context, client *holdfastclient.Client, rdb *goredisclient.Client, etcd *clientv3.Client) error {
	ship := func(ctx context.Context, token %s) error { return ctx.Err() }
%s
}
`

// addSnippet compiles a snippet. Its first lines are comments with what it imports.
func (d *desk) addSnippet(t *testing.T, content string) {
	t.Helper()
	var imports strings.Builder
	token, tail := "int64", ""
	for _, found := range importLine.FindAllStringSubmatch(content, -1) {
		if found[1] != "go.etcd.io/etcd/client/v3" { // it is there under its own name
			fmt.Fprintf(&imports, "\t%q\n", found[1])
		}
	}
	if strings.Contains(content, "holdfast.") {
		token, tail = "uint64", "return err"
	}
	folder := filepath.Join(d.root, "home/you", path.Base(t.TempDir()))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	d.write(t, filepath.Base(folder)+"/snippet.go", fmt.Sprintf(snippetFile, imports.String(), token, content+tail))
	if out := d.shell.run(t, "go vet ./"+filepath.Base(folder)); strings.TrimSpace(out) != "" {
		t.Errorf("a snippet cannot be compiled:\n%s\n%s", content, out)
	}
}
