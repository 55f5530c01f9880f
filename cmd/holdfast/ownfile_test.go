//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestOwnFolderIsTheSameWhateverTheEnvironment(t *testing.T) {
	for _, name := range []string{"HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "USER"} {
		t.Setenv(name, "/elsewhere")
	}
	folder, err := ownFolder()
	want := "/var/lib/holdfast"
	if uid := os.Geteuid(); uid != 0 {
		want, err = homeFolder(uid)
	}
	if err != nil || folder != want {
		t.Errorf("ownFolder() = %q, %v; want %q: cron, a login and a service must meet there", folder, err, want)
	}
}

// Users other than root have it in the home folder of the user database, or are told what to do.
func TestHomeFolder(t *testing.T) {
	entries, err := os.ReadFile("/etc/passwd")
	ok(t, err)
	for line := range strings.Lines(string(entries)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 7 || fields[5] == "/" || fields[5] == "" {
			continue
		}
		uid, err := strconv.Atoi(fields[2])
		ok(t, err)
		folder, err := homeFolder(uid)
		if want := filepath.Join(fields[5], ".local/state/holdfast"); err != nil || folder != want {
			t.Errorf("homeFolder(%d) = %q, %v; want %q, as %q says", uid, folder, err, want, line)
		}
	}
	const unknown = 1<<31 - 7
	if _, err := homeFolder(unknown); err == nil || !strings.Contains(err.Error(), "add the user") {
		t.Errorf("homeFolder of a user that there is not: %v; want an error that says what to do", err)
	}
}

func TestMakePrivate(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, folder string)
		refusal string // part of the error; empty for none
	}{
		{"nothing is there", func(*testing.T, string) {}, ""},
		{"our folder", mkdir(0o700), ""},
		{"a stricter folder", mkdir(0o500), ""},
		{"open to the group", mkdir(0o710), "is open to other users (mode 0710); chmod 700"},
		{"open to all", mkdir(0o777), "is open to other users"},
		{"a file", touch, "is not a folder; remove it"},
		{"a link to a folder", link, "is not a folder; remove it"},
		{"another user's", giveAway, "belongs to another user"},
		{"no folder around it", vanish, "make it possible to create it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "around", "own")
			ok(t, os.Mkdir(filepath.Dir(folder), 0o700))
			tt.prepare(t, folder)
			err := makePrivate(folder)
			switch {
			case tt.refusal == "" && err != nil:
				t.Fatalf("makePrivate: %v; want no error", err)
			case tt.refusal != "" && (err == nil || !strings.Contains(err.Error(), tt.refusal)):
				t.Fatalf("makePrivate: %v; want an error with %q", err, tt.refusal)
			case tt.refusal == "":
				isPrivate(t, folder)
			}
		})
	}
}

func isPrivate(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Lstat(folder)
	ok(t, err)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%s has mode %v; want a folder for its owner alone", folder, info.Mode())
	}
}

func mkdir(mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		ok(t, os.Mkdir(folder, 0o700))
		ok(t, os.Chmod(folder, mode)) // whatever the umask
	}
}

func touch(t *testing.T, folder string) { ok(t, os.WriteFile(folder, nil, 0o600)) }

func link(t *testing.T, folder string) {
	target := t.TempDir()
	ok(t, os.Chmod(target, 0o700))
	ok(t, os.Symlink(target, folder))
}

func giveAway(t *testing.T, folder string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	mkdir(0o700)(t, folder)
	ok(t, os.Chown(folder, 65534, 65534))
}

func vanish(t *testing.T, folder string) { ok(t, os.Remove(filepath.Dir(folder))) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
