package driver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

func TestIsAnswer(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"success", nil, true},
		{"the claim is gone", driver.ErrGone, true},
		{"a refusal with its reason", fmt.Errorf("%w: %w", driver.ErrRefused, errors.New("wrong password")), true},
		{"a name that cannot be", driver.ErrInvalidName, true},
		{"what the backend cannot do", driver.Unsupported(driver.Traits{Backend: "file"}, "breaking"), true},
		{"gone, and the context ended too", errors.Join(context.Canceled, driver.ErrGone), true},
		{"nobody can tell", driver.ErrUnknown, false},
		{"not sent, so sending it may help", driver.ErrUnsent, false},
		{"the driver was closed before there was an answer", driver.ErrClosed, false},
		{"no answer in time", context.DeadlineExceeded, false},
		{"a connection that broke", errors.New("connection reset by peer"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := driver.IsAnswer(tt.err); got != tt.want {
				t.Errorf("IsAnswer(%v) = %t, want %t", tt.err, got, tt.want)
			}
		})
	}
}
