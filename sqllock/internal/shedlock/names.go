package shedlock

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// mostName and mostBy are how much ShedLock's columns take.
const (
	mostName = 64
	mostBy   = 255
)

// tableName is what the name of the table may be: it stands in statements without quotes, as ShedLock writes it.
var tableName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$`)
})

// checkTable refuses names that would need quotes.
func checkTable(name string) error {
	if !tableName().MatchString(name) {
		return fmt.Errorf("the table %q: use letters, digits, '_' and '$', as in shedlock or jobs.shedlock", name)
	}
	return nil
}

// key is the name of a lock in our own table, which several tables of ShedLock may share.
func (d *Driver) key(name string) string { return d.table + "/" + name }

// refuse returns an error for names that the table cannot have.
func (d *Driver) refuse(name string) error {
	if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%w: %q is no text, as ShedLock's names are; use UTF-8 without NUL",
			driver.ErrInvalidName, name)
	}
	return nil
}

// isUnfit reports whether an error means that a column cannot have the characters of a name.
func isUnfit(err error) bool {
	return slices.Contains([]string{"1267", "1366", "3854", "22021", "22P05"}, dbms.Code(err))
}

// unfit is the error for a name that has characters which the database or the column does not know.
func unfit(name string, err error) error {
	return fmt.Errorf("%w: the table cannot store %q (%w); use other characters", driver.ErrInvalidName, name, err)
}

// misnamed is the error for a lock that is in the table under another name, which compares as equal to this one.
func misnamed(name, found string) error {
	return fmt.Errorf("%w: to the database %q is the same name as %q, which is in the table; use the latter",
		driver.ErrInvalidName, name, found)
}

// mark begins locked_by where the claim has the lock.
func mark(id string) string { return marked + id + "@" }

// marked begins locked_by where a claim of ours has the lock.
const marked = "holdfast:"

// lockedBy is a name for the claim, and who has it for people to read. Only the claim's name counts.
func lockedBy(c driver.Claim) string {
	by := mark(c.ID) + strings.Map(plain, c.Owner)
	return by[:min(len(by), mostBy)]
}

// plain replaces what a column may not be able to store.
func plain(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// claimIn is the ID of our claim in locked_by, or none where the lock is another program's.
func claimIn(lockedBy string) (id string, isOurs bool) {
	rest, isOurs := strings.CutPrefix(lockedBy, marked)
	id, _, hasEnd := strings.Cut(rest, "@")
	return id, isOurs && hasEnd && driver.IsID(id)
}
