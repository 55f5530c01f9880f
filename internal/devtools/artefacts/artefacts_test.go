package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// makeAll makes the artefacts of binaries that are only text.
func makeAll(t *testing.T) (folder string) { return makeVersion(t, "v0.1.0") }

func makeVersion(t *testing.T, version string) (folder string) {
	t.Helper()
	m := &maker{top: t.TempDir(), version: version, date: time.Unix(1e9, 0).UTC(), out: t.TempDir(), work: t.TempDir()}
	files := []string{filepath.Join(m.top, "LICENSE"), filepath.Join(m.top, "README.md"), m.at("man", "holdfast.1")}
	for _, name := range completions {
		files = append(files, m.at("completions", name))
	}
	for _, target := range targets {
		files = append(files, m.binary(target))
	}
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(filepath.Base(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, target := range targets {
		if err := m.archive(target); err != nil {
			t.Fatal(err)
		}
		if target.system == "linux" {
			if err := m.packages(target); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.finish(targets); err != nil {
		t.Fatal(err)
	}
	return m.out
}

// Ten files, the list of their sums and the formula are the same each time.
func TestArtefactsAreTheSame(t *testing.T) {
	once := makeAll(t)
	entries, err := os.ReadDir(once)
	if err != nil || len(entries) != 12 {
		t.Fatalf("made %v, %v", entries, err)
	}
	for range 8 { // what depends on the order of a map is the same now and then
		again := makeAll(t)
		for _, e := range entries {
			if read(t, once, e.Name()) != read(t, again, e.Name()) {
				t.Errorf("%s differs when it is made again", e.Name())
			}
		}
	}
}

// Each archive and package has a checksum, also of a version that is a preview, which packages write in another way.
func TestChecksums(t *testing.T) {
	for _, version := range []string{"v0.1.0", "v0.2.0-rc.1"} {
		folder := makeVersion(t, version)
		sums := read(t, folder, sumsFile)
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != sumsFile && e.Name() != "holdfast.rb" && !strings.Contains(sums, "  "+e.Name()+"\n") {
				t.Errorf("%s has no checksum in\n%s", e.Name(), sums)
			}
		}
	}
}

// The formula has the address and the checksum of each archive that Homebrew can install.
func TestFormula(t *testing.T) {
	folder := makeAll(t)
	formula, archives := read(t, folder, "holdfast.rb"), 0
	for line := range strings.Lines(read(t, folder, sumsFile)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if strings.HasSuffix(name, ".tar.gz") {
			archives++
			want := "/releases/download/v0.1.0/" + name + "\"\n      sha256 \"" + sum + "\"\n"
			if !strings.Contains(formula, want) {
				t.Errorf("the formula lacks %q:\n%s", want, formula)
			}
		}
	}
	if archives != 4 {
		t.Errorf("%d archives are for Homebrew, want 4", archives)
	}
}

// On Windows people get a zip with a program that they can start.
func TestZip(t *testing.T) {
	archive, err := zip.OpenReader(filepath.Join(makeAll(t), "holdfast_0.1.0_windows_arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if _, err := archive.Open("holdfast_0.1.0_windows_arm64/holdfast.exe"); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
