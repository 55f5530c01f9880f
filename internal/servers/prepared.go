package servers

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keptAt is the archive of the data that these commands make: in the cache of the user, under a name of its own for
// each version of the program and its arguments. Empty: there is no place for it.
func (s *Server) keptAt(lines [][]string) string {
	cache, err := os.UserCacheDir()
	if err != nil || !s.kind.alike {
		return ""
	}
	program, err := exec.LookPath(lines[0][0])
	if err != nil {
		return ""
	}
	version, err := os.Stat(program)
	if err != nil {
		return ""
	}
	what := fmt.Sprintln(program, version.Size(), version.ModTime().UnixNano(), lines)
	sum := sha256.Sum256([]byte(strings.ReplaceAll(what, s.Dir, "DIR")))
	return filepath.Join(cache, "holdfast", "prepared", fmt.Sprintf("%s-%x.tar", s.kind.name, sum[:8]))
}

// keep writes the data of a server that was prepared and has not run yet into an archive. Others may do the same at the
// same time. What is seen at that place is complete, after a crash of the machine too.
func (s *Server) keep(kept string) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return err
	}
	unfinished, err := os.CreateTemp(filepath.Dir(kept), "unfinished")
	if err != nil {
		return err
	}
	defer os.Remove(unfinished.Name())
	archive := tar.NewWriter(unfinished)
	if err := errors.Join(
		archive.AddFS(os.DirFS(data(s))), archive.Close(), unfinished.Sync(), unfinished.Close(),
	); err != nil {
		return err
	}
	return os.Rename(unfinished.Name(), kept)
}

// unpack fills the data of a server from an archive. If it fails there is no data, as before.
func (s *Server) unpack(kept string) error {
	file, err := os.Open(kept)
	if err != nil {
		return err
	}
	defer file.Close()
	err = s.put(os.ModeDir|0o700, data(s), nil)
	for archive := tar.NewReader(file); err == nil; {
		var head *tar.Header
		if head, err = archive.Next(); err == nil {
			err = s.put(head.FileInfo().Mode(), filepath.Join(data(s), head.Name), archive)
		}
	}
	if err != io.EOF {
		return errors.Join(err, os.RemoveAll(data(s)))
	}
	return nil
}

// put makes a folder or a file for whom the server runs as.
func (s *Server) put(mode os.FileMode, path string, content io.Reader) error {
	var err error
	if mode.IsDir() {
		err = os.Mkdir(path, mode.Perm())
	} else {
		err = writeFrom(content, path, mode.Perm())
	}
	if err == nil && s.kind.user != "" {
		err = giveTo(s.kind.user, path)
	}
	return err
}

func writeFrom(content io.Reader, path string, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
