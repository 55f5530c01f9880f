package driver_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// TestServerErrorMatchesItsEffect: callers decide by what an error matches, so each effect must match its own error
// and no other.
func TestServerErrorMatchesItsEffect(t *testing.T) {
	for effect, want := range map[driver.Effect]struct{ refused, unsent bool }{
		driver.MayHaveHappened: {false, false},
		driver.NotNow:          {false, true},
		driver.Refused:         {true, false},
	} {
		err := fmt.Errorf("request: %w", &driver.ServerError{Effect: effect, Words: "BUSY", Err: io.EOF})
		if got := errors.Is(err, driver.ErrRefused); got != want.refused {
			t.Errorf("effect %d matches ErrRefused: %v, want %v", effect, got, want.refused)
		}
		if got := errors.Is(err, driver.ErrUnsent); got != want.unsent {
			t.Errorf("effect %d matches ErrUnsent: %v, want %v", effect, got, want.unsent)
		}
		if driver.IsAnswer(err) != want.refused {
			t.Errorf("effect %d: IsAnswer is %v; only after a refusal asking again is useless", effect, !want.refused)
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("effect %d: the client library's error is not found", effect)
		}
	}
}

// TestServerErrorKeepsTheWords: the first line that a user sees names the cause, and what to do.
func TestServerErrorKeepsTheWords(t *testing.T) {
	err := &driver.ServerError{Words: "ERR max number of clients reached", Advice: "raise maxclients"}
	want := "the server answered: ERR max number of clients reached (raise maxclients)"
	if got := err.Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
