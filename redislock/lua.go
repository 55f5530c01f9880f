package redislock

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// sources are the files of the scripts.
//
//go:embed lua
var sources embed.FS

// source is the text of a script, with the files that it includes.
func source(name string) string {
	if text, ok := assembled.Load(name); ok {
		return text.(string)
	}
	text, err := sources.ReadFile("lua/" + name)
	if err != nil {
		panic(err) // it is part of this package
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if file, ok := strings.CutPrefix(strings.TrimSpace(line), "--include "); ok {
			out.WriteString(source(file))
			continue
		}
		out.WriteString(line)
	}
	assembled.Store(name, out.String())
	return out.String()
}

// assembled has the sources, once they were put together.
var assembled sync.Map

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
