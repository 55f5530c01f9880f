package sqlite

import (
	"fmt"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
)

// refuseNetwork refuses a file whose locks other machines may not see, or may see with other clocks.
func refuseNetwork(path string) error {
	folder := filepath.Dir(path)
	name, network, err := fileSystem(folder)
	if err != nil {
		return fmt.Errorf("find out the file system of %s: %w", folder, err)
	}
	return refuse(folder, name, network)
}

func refuse(folder, name string, network bool) error {
	if !network {
		return nil
	}
	return fmt.Errorf("%w: %s is on %s, where locks cannot be trusted;"+
		" use a folder on a local disk, or another backend for several machines", driver.ErrRefused, folder, name)
}
