package dbms

import (
	"errors"
	"testing"
)

// What databases say of themselves; that those which the tests start do so is tested in the lab.
func TestKindOf(t *testing.T) {
	for _, row := range []struct {
		version string
		want    Kind
	}{
		{"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", Postgres},
		{"10.11.19-MariaDB-0+deb12u1", MariaDB},
		{"9.7.4-1", MySQL},
		{"8.0.42", MySQL},
	} {
		if got, err := kindOf(row.version); got != row.want || err != nil {
			t.Errorf("%q is %v, %v", row.version, got, err)
		}
	}
	for _, version := range []string{"5.7.44-log", "CockroachDB CCL v23.1.11", ""} {
		if got, err := kindOf(version); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q is %v, %v", version, got, err)
		}
	}
}
