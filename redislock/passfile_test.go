package redislock_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A password that was changed is read from its file when a connection is made anew. Until the file has it, renewals say
// what is wrong, in the server's words.
func TestPasswordFile(t *testing.T) {
	srv := servers.Redis(t, "--requirepass", "old")
	file := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old\n")
	d := openURL(t, "redis://"+srv.Addr+"?passfile="+file)
	held := acquire(t, d, claim("jobs", long))

	admin := rawClientAs(t, srv.Addr, "old")
	for _, args := range [][]string{
		{"CONFIG", "SET", "requirepass", "new"}, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"},
	} {
		if err := admin.Do(t.Context(), admin.B().Arbitrary(args...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	renew := func() error {
		results, err := d.Renew(t.Context(), []driver.Claim{held})
		if err == nil {
			err = results[0].Err
		}
		return err
	}
	var err error
	eventually(t, "a renewal is refused", func() bool {
		err = renew()
		return err != nil && strings.Contains(err.Error(), "WRONGPASS") // the first may find the connection closed
	})
	errorWant{driver.Refused, "WRONGPASS", "passfile"}.check(t, err)
	write("new\r\n")
	eventually(t, "the new password is used", func() bool { return renew() == nil })
}

func TestPasswordFileMistakes(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\nsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"redis://localhost?passfile=/nowhere/x":                   "no such file",
		"redis://localhost?passfile=" + empty:                     "first line",
		"redis://:pw@localhost?passfile=" + empty:                 "either a password or",
		"redis-sentinel://localhost/mymaster?passfile=/nowhere/x": "no such file",
		"redis-cluster://localhost?passfile=/nowhere/x":           "no such file",
	} {
		_, err := drivertest.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}
