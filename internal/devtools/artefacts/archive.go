package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An entry is a file that goes into an archive.
type entry struct {
	from, to string
	mode     os.FileMode
}

// entries are those of every archive.
func (m *maker) entries(t target) (all []entry, err error) {
	all = []entry{
		{m.binary(t), t.program(), 0o755},
		{filepath.Join(m.top, "LICENSE"), "LICENSE", 0o644},
		{filepath.Join(m.top, "README.md"), "README.md", 0o644},
	}
	for folder, pattern := range map[string]string{"man": "*.1", "completions": "*"} {
		names, err := filepath.Glob(m.at(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, entry{name, folder + "/" + filepath.Base(name), 0o644})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.to, b.to) })
	return all, nil
}

// stem is the name of an archive before its ending. Everything in the archive is in a folder of this name.
func (m *maker) stem(t target) string {
	return fmt.Sprintf("holdfast_%s_%s_%s", m.plain(), t.system, t.arch)
}

// archive writes a .zip for Windows, and a .tar.gz for others.
func (m *maker) archive(t target) error {
	entries, err := m.entries(t)
	if err != nil {
		return err
	}
	ending, write := ".tar.gz", m.writeTar
	if t.system == "windows" {
		ending, write = ".zip", m.writeZip
	}
	file, err := m.create(m.stem(t) + ending)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := write(file, m.stem(t), entries); err != nil {
		return err
	}
	return file.Close()
}

// create makes the file of an archive or a package.
func (m *maker) create(name string) (*os.File, error) {
	m.made = append(m.made, name)
	return os.Create(filepath.Join(m.out, name))
}

func (m *maker) writeTar(w io.Writer, stem string, entries []entry) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, e := range entries {
		text, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := tar.Header{
			Name: stem + "/" + e.to, Mode: int64(e.mode), Size: int64(len(text)),
			ModTime: m.date, Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func (m *maker) writeZip(w io.Writer, stem string, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		text, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := zip.FileHeader{Name: stem + "/" + e.to, Method: zip.Deflate, Modified: m.date}
		header.SetMode(e.mode)
		into, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := into.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}
