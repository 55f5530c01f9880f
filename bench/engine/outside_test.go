package engine

import (
	"errors"
	"os"
	"slices"
	"testing"
)

var errBroken = errors.New("broken")

func TestOutsideTidiesUp(t *testing.T) {
	var order []string
	var dir string
	err := Outside(t.Context(), func(t testing.TB) error {
		dir = t.TempDir()
		t.Cleanup(func() { order = append(order, "first") })
		t.Cleanup(func() { order = append(order, "second") })
		return errBroken
	})
	if !errors.Is(err, errBroken) {
		t.Errorf("Outside = %v, want what fn returned", err)
	}
	if want := []string{"second", "first"}; !slices.Equal(order, want) {
		t.Errorf("tidied up in the order %q, want %q", order, want)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestOutsideStopsWhereATestWould(t *testing.T) {
	for name, stop := range map[string]func(testing.TB){
		"fatal": func(t testing.TB) { t.Fatalf("no %s", "server") },
		"skip":  func(t testing.TB) { t.Skip("no server") },
	} {
		t.Run(name, func(t *testing.T) {
			tidied := false
			err := Outside(t.Context(), func(out testing.TB) error {
				out.Cleanup(func() { tidied = out.Failed() })
				stop(out)
				t.Error("it went on")
				return nil
			})
			if err == nil || err.Error() != "no server" || !tidied {
				t.Errorf("Outside = %v, and cleanups that knew of it: %v", err, tidied)
			}
		})
	}
}
