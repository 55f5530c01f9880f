package dbms

import (
	"errors"
	"fmt"
	"testing"
)

// The settings, and the error, are those of Percona XtraDB Cluster 8.0.
func TestStrictMode(t *testing.T) {
	for mode, want := range map[string]bool{"ENFORCING": true, "MASTER": true, "PERMISSIVE": false, "DISABLED": false} {
		if ForbidsLocks(mode) != want {
			t.Errorf("%s forbids locks: %v", mode, !want)
		}
	}
	for _, row := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("%w: %w", errors.New("Percona-XtraDB-Cluster prohibits use of GET_LOCK with pxc_strict_mode = "+
			"ENFORCING"), &MySQLError{Number: 1105}), true},
		{&MySQLError{Number: 1105}, false},
		{errors.New("pxc_strict_mode"), false},
		{nil, false},
	} {
		if LocksForbidden(row.err) != row.want {
			t.Errorf("%v: %v", row.err, !row.want)
		}
	}
}
