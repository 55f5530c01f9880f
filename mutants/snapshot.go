package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// snapshot copies the tree as it is now to a folder of its own: the files that git tracks or would, and not what it
// ignores. Who goes on working meanwhile disturbs nothing.
func snapshot(ctx context.Context) (string, error) {
	list, err := in(ctx, ".", "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", fmt.Errorf("git ls-files: %w: %s", err, list)
	}
	dir, err := os.MkdirTemp("", "unbroken")
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if err := copyFile(dir, name); err != nil && !errors.Is(err, fs.ErrNotExist) { // tracked, and deleted here
			return dir, err
		}
	}
	return dir, nil
}

func copyFile(dir, name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
