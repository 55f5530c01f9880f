package tree

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Top is the folder of the checkout that the current folder is in.
func Top() (string, error) {
	top, err := Git(".", "rev-parse", "--show-toplevel")
	return filepath.FromSlash(top), err
}

// Git runs git in a folder and returns what it prints. An error has what it complained of.
func Git(folder string, args ...string) (string, error) {
	var out, complaint bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
