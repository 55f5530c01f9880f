package servertables

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// MySQLError has the shape of an error of MySQL's driver, and stateError that of PostgreSQL's.
type (
	MySQLError struct{ Number uint16 }
	stateError string
)

func (e *MySQLError) Error() string   { return "as MySQL says" }
func (e stateError) Error() string    { return "as PostgreSQL says" }
func (e stateError) SQLState() string { return string(e) }

// Requests are repeated only after what means that nothing was done, and of missing tables a refusal remains.
func TestWhatIsRepeatedWasNotDone(t *testing.T) {
	for _, d := range []*Dialect{Postgres, MySQL} {
		sent := func(code string) error {
			if d.isPostgres {
				return stateError(code)
			}
			var n uint16
			if _, err := fmt.Sscan(code, &n); err != nil {
				t.Fatal(err)
			}
			return &MySQLError{n}
		}
		for _, code := range slices.Concat(d.busy, d.lost, d.rowLocked) {
			if err := d.explain(sent(code)); !errors.Is(err, driver.ErrUnsent) || errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: %s: %v", d.Name, code, err)
			}
		}
		for _, code := range d.missing {
			if err := d.explain(sent(code)); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: %s: %v", d.Name, code, err)
			}
		}
	}
}
