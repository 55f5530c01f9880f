package etcdlock

import (
	"fmt"
	"strings"
)

// defaultPrefix begins all keys unless the options say otherwise.
const defaultPrefix = "/holdfast"

// Options are settings of a driver. The zero value is right for most programs.
type Options struct {
	// Prefix begins all keys. Empty: "/holdfast" in the native layout, no prefix in the other.
	Prefix string

	// Layout says how keys are named. Empty: [Native]. All clients of a lock must use the same layout.
	Layout Layout
}

func (o *Options) keys() (keyspace, error) {
	if o == nil {
		o = &Options{}
	}
	switch o.Layout {
	case Native, "":
		return keyspace{root: nativeRoot(o.Prefix), layout: Native}, nil
	case Concurrency:
		return keyspace{root: o.Prefix, layout: Concurrency}, nil
	default:
		return keyspace{}, fmt.Errorf("etcdlock: unknown layout %q; it should be %q or %q",
			o.Layout, Native, Concurrency)
	}
}

func nativeRoot(prefix string) string {
	if prefix == "" {
		return defaultPrefix
	}
	return strings.TrimRight(prefix, "/")
}
