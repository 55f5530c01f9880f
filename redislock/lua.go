package redislock

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

//go:embed lua
var embedded embed.FS

// sources are the files of the scripts.
var sources = folder(embedded, "lua")

// folder returns a part of files, which must be there.
func folder(files fs.FS, name string) fs.FS {
	part, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // it is part of this package
	}
	return part
}

// source is the text of a script, with the files that it includes.
func source(files fs.FS, name string) string {
	key := assembledKey{files, name}
	if text, ok := assembled.Load(key); ok {
		return text.(string)
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // it is part of this package
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if file, ok := strings.CutPrefix(strings.TrimSpace(line), "--include "); ok {
			out.WriteString(source(files, file))
			continue
		}
		out.WriteString(line)
	}
	assembled.Store(key, out.String())
	return out.String()
}

// assembled has the sources, once they were put together.
var assembled sync.Map

type assembledKey struct {
	files fs.FS
	name  string
}

// quote writes any bytes as a string of Lua.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\%03d`, c)
	}
	b.WriteByte('\'')
	return b.String()
}
