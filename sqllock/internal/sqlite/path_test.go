package sqlite

import (
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes the path that a URL names as another URL. That must name the same path.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"file:/a/b.db", "file:b.db", "file:///a//b.db", "file:a%20b%2F%23", "file:/a b,c@d", "file:~/b.db",
		"file://h/b", "file:./~/b", "file:/..", "file:/a?b", "file:/a%3Fb",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		path, ok := readURL(raw)
		if !ok {
			return
		}
		u := url.URL{Scheme: "file", Path: path}
		if strings.HasSuffix(path, "'") || strings.HasSuffix(path, "\"") {
			return // package url leaves them, and at the end of a URL they are taken for quotation marks
		}
		if again, ok := readURL(u.String()); !ok || again != path {
			t.Errorf("%q is %q; written as %q it is %q", raw, path, &u, again)
		}
	})
}

func readURL(raw string) (path string, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Scheme != "file" || driver.NewParams(u).Err() != nil {
		return "", false
	}
	path, err = pathOf(u)
	return path, err == nil
}

// The home of a user is known to shells. Here a ~ would be the name of a folder.
func TestTilde(t *testing.T) {
	u, err := driver.ParseURL("file:~/locks.db")
	if err != nil {
		t.Fatal(err)
	}
	if path, err := pathOf(u); err == nil || !strings.Contains(err.Error(), "a ~ stands for a home only") {
		t.Errorf("it is %q, %v; want an error that says what a ~ is", path, err)
	}
}
