package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// explain adds to a refusal that the file which named the backend has changed since: a password that was rotated there
// does not reach a command that runs. The file may be a pipe, so that nobody can count on reading it again.
func (b *backendFlags) explain(err error) error {
	if b == nil || !errors.Is(err, driver.ErrRefused) || !b.fileHasChanged() {
		return err
	}
	return fmt.Errorf("%w; %s was changed after this command had read it, and is not read again: start the command "+
		"anew", err, b.file)
}

// fileHasChanged reports whether a file, and no pipe, says something else than when it was read.
func (b *backendFlags) fileHasChanged() bool {
	if b.held == "" {
		return false
	}
	info, err := os.Stat(b.file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(b.file)
	return err == nil && strings.TrimSpace(string(text)) != b.held
}
