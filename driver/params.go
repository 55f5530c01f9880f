package driver

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Params reads the parameters of a backend URL. Ask for each parameter once, with its default. Then Err reports what
// was malformed, given twice, or not asked for at all, so a misspelt parameter is never ignored.
type Params struct {
	values url.Values
	known  []string
	err    error

	mayBeCut bool // they may be the rest of a password
}

// NewParams returns the parameters of u.
func NewParams(u *url.URL) *Params {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		err = fmt.Errorf("the URL's parameters cannot be parsed")
	}
	return &Params{values: values, err: err, mayBeCut: mayHaveUser(u) && strings.Contains(u.RawQuery, "@")}
}

// String returns a parameter, or def if it is not given.
func (p *Params) String(name, def string) string {
	p.known = append(p.known, name)
	switch given := p.values[name]; len(given) {
	case 0:
		return def
	case 1:
		return given[0]
	default:
		p.fail("parameter %s: it is given %d times", name, len(given))
		return def
	}
}

// Duration returns a parameter like 1m30s or 1d12h (see [ParseDuration]), or def if it is not given.
func (p *Params) Duration(name string, def time.Duration) time.Duration {
	return parse(p, name, def, ParseDuration, "a duration like 1m30s or 1d")
}

// Int returns a parameter that is a whole number, or def if it is not given.
func (p *Params) Int(name string, def int) int {
	return parse(p, name, def, strconv.Atoi, "a whole number")
}

// Bool returns a parameter that is true or false, or def if it is not given.
func (p *Params) Bool(name string, def bool) bool {
	return parse(p, name, def, strconv.ParseBool, "true or false")
}

// Err returns the first thing that was wrong, or an error for a parameter that nobody asked for.
func (p *Params) Err() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		switch {
		case slices.Contains(p.known, name):
		case p.mayBeCut:
			p.fail("%w", errCutPassword)
		default:
			p.fail("unknown parameter %q; this backend takes: %s", name, cmp.Or(strings.Join(p.known, ", "), "none"))
		}
	}
	return p.err
}

func parse[T any](p *Params, name string, def T, convert func(string) (T, error), want string) T {
	s := p.String(name, "")
	if !p.values.Has(name) {
		return def
	}
	v, err := convert(s)
	if err != nil {
		p.fail("parameter %s: it should be %s", name, want)
		return def
	}
	return v
}

func (p *Params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}
