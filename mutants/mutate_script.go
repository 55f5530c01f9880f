package main

import (
	"regexp"
	"strconv"
	"strings"
)

// A language is what is to be known of one whose scripts are changed token by token and line by line.
type language struct {
	skip      *regexp.Regexp // comments, strings, and how long text may be
	instead   map[string]change
	statement *regexp.Regexp // a line that is a statement of its own, and declares nothing
}

type change struct{ kind, to string }

var languages = map[string]language{
	".lua": {
		skip: regexp.MustCompile(`^(?:--\[\[(?s:.*?)\]\]|--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`),
		instead: map[string]change{
			"<": {comparison, "<="}, "<=": {comparison, "<"}, ">": {comparison, ">="}, ">=": {comparison, ">"},
			"==": {comparison, "~="}, "~=": {comparison, "=="},
			"and": {logic, "or"}, "or": {logic, "and"}, "not": {condition, ""},
			"+": {arithmetic, "-"}, "-": {arithmetic, "+"},
			"true": {constant, "false"}, "false": {constant, "true"},
		},
		statement: regexp.MustCompile(`^\s*(?:[\w.]+\(.*\)|[\w.\[\]#+ ]+ = [^{(]*|[\w.\[\]#+ ]+ = .*[)}])\s*$`),
	},
	".sql": {
		skip: regexp.MustCompile(`^(?:--[^\n]*|/\*(?s:.*?)\*/|'(?:''|[^'])*'|"[^"\n]*"|VAR(?:CHAR|BINARY)\(\d+\)|` +
			"`[^`\n]*`)"),
		instead: map[string]change{
			"<": {comparison, "<="}, "<=": {comparison, "<"}, ">": {comparison, ">="}, ">=": {comparison, ">"},
			"<>": {comparison, "="}, "AND": {logic, "OR"}, "OR": {logic, "AND"}, "NOT": {condition, ""},
			"+": {arithmetic, "-"}, "-": {arithmetic, "+"}, "TRUE": {constant, "FALSE"}, "FALSE": {constant, "TRUE"},
			"GREATEST": {arithmetic, "LEAST"}, "LEAST": {arithmetic, "GREATEST"},
		},
		statement: regexp.MustCompile(`(?i)^\s*(?:AND .*|(?:UPDATE|DELETE|INSERT|CALL|PERFORM|SET|DO) .*;)\s*$`),
	},
}

// tokens are what there may be between strings and comments.
var tokens = regexp.MustCompile(`^(?:[A-Za-z_][\w.]*|\$?\d+|:=|->>?|\.\.|[<>=~!]=|<>|\s+|.)`)

// mutateScript returns the mutants of a script.
func mutateScript(name, source string, l language) []mutant {
	var found []mutant
	replace := func(kind string, from, to int, instead string) {
		found = append(found, mutant{kind: kind, from: from, to: to, instead: instead})
	}
	for at := 0; at < len(source); {
		if skip := l.skip.FindString(source[at:]); skip != "" {
			at += len(skip)
			continue
		}
		word := tokens.FindString(source[at:])
		if c, ok := l.instead[word]; ok {
			replace(c.kind, at, at+len(word), c.to)
		} else if c, ok := l.instead[strings.ToUpper(word)]; ok {
			replace(c.kind, at, at+len(word), c.to)
		} else if n, err := strconv.Atoi(word); err == nil {
			replace(constant, at, at+len(word), strconv.Itoa(n+1))
		}
		at += len(word)
	}
	l.lines(source, replace)
	return named(name, source, found)
}

// lines leaves statements out, and swaps neighbours.
func (l language) lines(source string, replace func(kind string, from, to int, instead string)) {
	at, before := 0, ""
	for line := range strings.Lines(source) {
		text := strings.TrimSuffix(line, "\n")
		if !l.statement.MatchString(text) {
			text = ""
		}
		if text != "" {
			replace(dropped, at, at+len(text), "")
		}
		if before != "" && text != "" && before != text {
			replace(swapped, at-len(before)-1, at+len(text), text+"\n"+before)
		}
		at += len(line)
		before = text
	}
}
