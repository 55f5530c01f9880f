package main

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// front is the page that the site opens with.
const front = "README.md"

// find lists the files that become pages, sorted.
func find(tree fs.FS) ([]string, error) {
	sources := []string{front, "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := fs.WalkDir(tree, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			sources = append(sources, name)
		}
		return err
	})
	slices.Sort(sources)
	return sources, err
}

// target is the file of a page in the site. The README of a folder is its index.
func target(source string) string {
	if folder, name := path.Split(source); name == front {
		return folder + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// relative is the way from one file of the site to another.
func relative(from, to string) string { return up(from) + to }

// up leads from a file of the site to its top.
func up(from string) string { return strings.Repeat("../", strings.Count(from, "/")) }
