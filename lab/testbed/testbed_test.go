package testbed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSetSaysWhatIsMissing(t *testing.T) {
	tidied := false
	missing, err := Outside(t.Context(), func(t testing.TB) error {
		t.Cleanup(func() { tidied = true })
		t.Skip("install a server")
		return errors.New("it went on")
	})
	if missing != "install a server" || err != nil || !tidied {
		t.Errorf("Outside = %q, %v, tidied up: %v", missing, err, tidied)
	}
}

func TestSetFails(t *testing.T) {
	if missing, err := Outside(t.Context(), func(testing.TB) error { return os.ErrInvalid }); missing != "" ||
		!errors.Is(err, os.ErrInvalid) {
		t.Errorf("Outside = %q, %v", missing, err)
	}
}

// A server that runs under another account has the folder around its own opened; that must not be the system's.
func TestFoldersAreOurs(t *testing.T) {
	_, err := Outside(t.Context(), func(t testing.TB) error {
		if dir := t.TempDir(); filepath.Dir(dir) == filepath.Clean(os.TempDir()) {
			t.Fatalf("%s is not in a folder of ours", dir)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A backend may have several hosts, with ports or without.
func TestAt(t *testing.T) {
	for _, rawURL := range []string{"redis://h1:1", "redlock://h1:1,h2,h3", "etcd://h1,h2:2,h3/prefix"} {
		if b, err := At(rawURL); err != nil || b.Start(t) != rawURL {
			t.Errorf("%s: %v", rawURL, err)
		}
	}
}
