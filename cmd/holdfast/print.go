package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"
)

// printJSON prints a value on a line of its own.
func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(text.Bytes()))
	return err
}

// escapeControls escapes what could control a terminal and JSON leaves as it is: controls of eight bits, and marks of
// direction. All of that is in strings.
func escapeControls(text []byte) []byte {
	if bytes.IndexFunc(text, isControl) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if !isControl(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

func isControl(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// complain tells why the command ends.
func (a *app) complain(e *exit) {
	if a.json {
		a.emit(event{Event: "error", Error: e.Error(), Code: &e.code, Holders: e.holders})
		return
	}
	a.say("%s", e)
}

// say tells the user something, in one line. Nothing in it controls the terminal.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.err, "holdfast: "+printable(oneLine(fmt.Sprintf(format, args...))))
}

// White space by which errors of several parts are laid out.
var (
	breakAfterColon = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:\s*\n\s*`) })
	lineBreak       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*\n\s*`) })
	tabs            = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\t+`) })
)

// oneLine returns an error of several lines as one.
func oneLine(s string) string {
	s = breakAfterColon().ReplaceAllString(strings.TrimSpace(s), ": ")
	s = lineBreak().ReplaceAllString(s, "; ")
	return tabs().ReplaceAllString(s, " ")
}

// printable returns s with what could control a terminal quoted: names and owners are other people's text.
func printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// isTerminal reports whether people look at f.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// bold returns s in bold where people look at f and have not asked for plain text.
func bold(f *os.File, s string) string {
	if !isTerminal(f) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}
