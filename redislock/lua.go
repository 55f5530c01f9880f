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

// source is the text of a script, with the files that it includes, and without what is there for readers: comments on
// lines of their own, and indents. It travels to each server, and stays there.
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
		line = strings.TrimSpace(line)
		file, isInclude := strings.CutPrefix(line, "--include ")
		switch {
		case isInclude:
			out.WriteString(source(file))
		case line != "" && line != "--" && !strings.HasPrefix(line, "-- "):
			out.WriteString(line + "\n")
		}
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
