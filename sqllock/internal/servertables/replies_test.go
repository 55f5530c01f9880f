package servertables

import (
	"errors"
	"slices"
	"strconv"
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
	busy := []string{"1213", "1020", "3101", "1205", "40001", "40P01", "57014", "55P03"}
	for _, code := range slices.Concat(busy, lost, missing) {
		var sent error = stateError(code)
		if n, err := strconv.ParseUint(code, 10, 16); err == nil && len(code) == len("1213") {
			sent = &MySQLError{uint16(n)}
		}
		isMissing := slices.Contains(missing, code)
		err := MySQL.explain(sent)
		if errors.Is(err, driver.ErrRefused) != isMissing || errors.Is(err, driver.ErrUnsent) == isMissing {
			t.Errorf("%s: %v", code, err)
		}
		if MySQL.isBusy(sent) != slices.Contains(busy, code) {
			t.Errorf("%s is in the way: %v", code, MySQL.isBusy(sent))
		}
	}
}
