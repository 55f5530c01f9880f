package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes those for Debian and Red Hat, and for what descends from them.
func (m *maker) packages(t target) error {
	for _, format := range []string{"deb", "rpm"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info, err := m.info(t)
		if err != nil {
			return err
		}
		if err := m.pack(packager, info); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) pack(packager nfpm.Packager, info *nfpm.Info) error {
	file, err := m.create(packager.ConventionalFileName(info))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := packager.Package(info, file); err != nil {
		return err
	}
	return file.Close()
}

// info says what is in a package. The binary is static: the package needs no other.
func (m *maker) info(t target) (*nfpm.Info, error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name:       "holdfast",
		Platform:   "linux",
		Arch:       t.arch,
		Version:    m.version,
		Section:    "utils",
		Priority:   "optional",
		Maintainer: "The Holdfast authors <maintainers@holdfast.invalid>", // no mail is read; the homepage takes issues
		Homepage:   "https://github.com/holdfast-go/holdfast",
		License:    "Apache-2.0",
		Description: "locks for commands, shared by processes and machines\n" +
			"Runs commands under locks over files, Redis, etcd, ZooKeeper, MySQL or PostgreSQL.",
		MTime: m.date,
	})
	info.RPM.BuildHost = "localhost"
	if err := m.compressPages(); err != nil {
		return nil, err
	}
	contents, err := m.contents(t)
	if err != nil {
		return nil, err
	}
	info.Contents = contents
	return info, nfpm.PrepareForPackager(info, "")
}

func (m *maker) contents(t target) (files.Contents, error) {
	contents := files.Contents{
		m.file(m.binary(t), "/usr/bin/holdfast", 0o755),
		m.file(filepath.Join(m.top, "LICENSE"), "/usr/share/doc/holdfast/copyright", 0o644),
		m.file(m.at("completions", "holdfast"), "/usr/share/bash-completion/completions/holdfast", 0o644),
		m.file(m.at("completions", "_holdfast"), "/usr/share/zsh/vendor-completions/_holdfast", 0o644),
		m.file(m.at("completions", "holdfast.fish"), "/usr/share/fish/vendor_completions.d/holdfast.fish", 0o644),
	}
	pages, err := filepath.Glob(m.at("man", "*.gz"))
	for _, page := range pages {
		contents = append(contents, m.file(page, "/usr/share/man/man1/"+filepath.Base(page), 0o644))
	}
	return contents, err
}

func (m *maker) file(from, to string, mode os.FileMode) *files.Content {
	info := &files.ContentFileInfo{Mode: mode, MTime: m.date, Owner: "root", Group: "root"}
	return &files.Content{Source: from, Destination: to, FileInfo: info}
}

// compressPages makes of each manual page one that systems keep.
func (m *maker) compressPages() error {
	pages, err := filepath.Glob(m.at("man", "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one that there is
		if _, err := w.Write(text); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(page+".gz", packed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
