//go:build !linux

package engine

import "errors"

var errCannotPin = errors.New("only on Linux can processes be kept on a core")

func usableCores() ([]int, error) { return nil, errCannotPin }

func stayOn(...int) error { return errCannotPin }
