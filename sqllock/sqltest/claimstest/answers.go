package claimstest

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// An Answer is what a server says to a program that opens a URL.
type Answer struct {
	Name, URL string
	Code      string
	Effect    driver.Effect
	Advice    string // a part of what to do
}

// TestAnswers opens URLs that servers do not serve, in all modes, and expects the server's words with what they mean:
// no statement of ours, no password, and nothing said twice.
func TestAnswers(t *testing.T, answers []Answer) {
	for _, a := range answers {
		for _, mode := range []string{"", "mode=session", "layout=shedlock"} {
			t.Run(strings.TrimSpace(a.Name+" "+mode), func(t *testing.T) {
				separator := "?"
				if strings.Contains(a.URL, "?") {
					separator = "&"
				}
				d, err := drivertest.Open(t.Context(), a.URL+separator+mode)
				if err == nil {
					d.Close()
					t.Fatal("it was opened")
				}
				a.check(t, err)
			})
		}
	}
}

func (a Answer) check(t *testing.T, err error) {
	t.Helper()
	server, ok := errors.AsType[*driver.ServerError](err)
	if !ok || server.Effect != a.Effect || dbms.Code(err) != a.Code {
		t.Fatalf("%#v with the code %q: %v", server, dbms.Code(err), err)
	}
	text := err.Error()
	if !strings.Contains(text, a.Advice) {
		t.Errorf("%q lacks %q", text, a.Advice)
	}
	for _, bad := range []string{"--", "/*", "secret", "\n", driver.ErrRefused.Error(), driver.ErrUnsent.Error()} {
		if strings.Contains(text, bad) {
			t.Errorf("%q has %q", text, bad)
		}
	}
	if strings.Count(text, "answered") != 1 || strings.Count(text, a.Advice) > 1 {
		t.Errorf("%q says something twice", text)
	}
}
