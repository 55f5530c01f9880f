package claimstest

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Password is one with all that a URL or a SQL driver may stumble over.
const Password = "s3cret:w/r@d?#% &x=1"

// A URLRow is a URL, and what opening it ends with.
type URLRow struct {
	Name, URL string
	Refusal   string // is in the error; empty where it opens
}

// TestURLs opens each of them, and uses a lock where that works. No error has the password in it.
func TestURLs(t *testing.T, rows []URLRow) {
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			d, err := drivertest.Open(ctx, row.URL)
			if d != nil {
				defer d.Close()
			}
			switch {
			case row.Refusal == "" && err != nil:
				t.Fatal(err)
			case row.Refusal == "":
				release(t, d, request(t, d, mutex(t.Name()), true))
				return
			case err == nil || !strings.Contains(err.Error(), row.Refusal):
				t.Errorf("got %v after %v, want an error with %q", err, time.Since(began), row.Refusal)
			}
			for _, secret := range []string{Password, "s3cret", url.QueryEscape(Password), url.PathEscape(Password)} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error has the password: %v", err)
				}
			}
		})
	}
}
