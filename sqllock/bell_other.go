//go:build !unix

package sqllock

import (
	"errors"
	"os"
)

func openBell(string) (*os.File, error) { return nil, errors.ErrUnsupported }
func ringBell(string, string)           {}
