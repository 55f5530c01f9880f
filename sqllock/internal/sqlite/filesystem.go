package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// refuseNetwork refuses a file whose locks other machines may not see, or may see with other clocks.
func refuseNetwork(path string) error {
	folder := filepath.Dir(path)
	name, network, err := fileSystem(folder)
	if err != nil {
		return fmt.Errorf("find out the file system of %s: %w", folder, err)
	}
	if network {
		return refusal(folder, name)
	}
	return nil
}

func refusal(folder, fileSystem string) error {
	return fmt.Errorf("%w: %s is on %s, where locks cannot be trusted;"+
		" use a folder on a local disk, or another backend for several machines", driver.ErrRefused, folder, fileSystem)
}

// isOnServer reports whether a volume of Windows is a folder of a server: \\SERVER\FOLDER, or \\?\UNC\SERVER\FOLDER.
// Other names that begin with \\?\ or \\.\ are devices of this machine.
func isOnServer(volume string) bool {
	volume = strings.ReplaceAll(volume, "/", `\`)
	if !strings.HasPrefix(volume, `\\`) {
		return false
	}
	server, rest, _ := strings.Cut(volume[2:], `\`)
	if server != "?" && server != "." {
		return true
	}
	name, _, _ := strings.Cut(rest, `\`)
	return strings.EqualFold(name, "UNC")
}
