//go:build unix && !linux

package guard

import "os"

func self() (string, error) { return os.Executable() }
