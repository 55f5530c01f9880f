package model

import (
	"fmt"
	"reflect"
	"strings"
)

// String says what was found: the way to it, step by step, with what each step has changed.
func (r Result[S]) String() string {
	if r.Wrong == "" {
		return fmt.Sprintf("all %d states and %d steps between them are right", r.States, r.Steps)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, after %d steps:\n", r.Wrong, len(r.Trace)-1)
	for i, s := range r.Trace {
		if i == 0 {
			fmt.Fprintf(&b, "   0. %+v\n", s.To)
			continue
		}
		before, after := reflect.ValueOf(r.Trace[i-1].To), reflect.ValueOf(s.To)
		fmt.Fprintf(&b, "%4d. %s: %s\n", i, s.What, strings.Join(changes("", before, after), ", "))
	}
	return b.String()
}

// changes lists what differs in two values of one type.
func changes(name string, before, after reflect.Value) (all []string) {
	switch after.Kind() {
	case reflect.Struct:
		for i := range after.NumField() {
			field := strings.TrimPrefix(name+"."+after.Type().Field(i).Name, ".")
			all = append(all, changes(field, before.Field(i), after.Field(i))...)
		}
	case reflect.Array:
		for i := range after.Len() {
			all = append(all, changes(fmt.Sprintf("%s[%d]", name, i), before.Index(i), after.Index(i))...)
		}
	default:
		if !before.Equal(after) {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %v", name, after)))
		}
	}
	return all
}
