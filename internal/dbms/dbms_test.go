package dbms

import (
	"errors"
	"testing"
)

// What passes for MySQL or PostgreSQL is known by what it says of itself; what only adds to them is not taken for that.
func TestPosers(t *testing.T) {
	for version, want := range map[string]string{
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) " +
			"3.4.2 20041017, Redshift 1.0.73348": "Amazon Redshift",
		"PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, " +
			"compiled by clang version 16.0.6, 64-bit": "YugabyteDB",
		"PostgreSQL 9.4.26 (Greenplum Database 6.25.3 " +
			"build commit:367edc6b4dfd909fe38fc288ade9e294d74e3f9a) on x86_64": "Greenplum",
		"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, " +
			"built 2023/09/27 01:53:43, go1.19.10)": "CockroachDB",
		"PostgreSQL 13.14.0-RisingWave-2.0.1 (76d3b6e)": "RisingWave",
		"8.0.11-TiDB-v8.5.1":                            "TiDB",
		"5.7.25-TiDB-v6.1.0":                            "TiDB",
		"8.0.30-Vitess":                                 "Vitess",
		"5.7.25-OceanBase_CE-v4.2.1.0":                  "OceanBase",
		"8.0.34-PlanetScale":                            "PlanetScale",
		"8.0.42":                                        "",
		"8.0.36-28.1":                                   "",
		"9.7.4-1":                                       "",
		"8.0.mysql_aurora.3.08.0":                       "",
		"10.11.19-MariaDB-0+deb12u1":                    "",
		"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc":             "",
		"PostgreSQL 15.2 (EnterpriseDB Advanced Server 15.2.0) on x86_64-pc-linux-gnu, compiled by gcc": "",
	} {
		if got := poser(version); got != want {
			t.Errorf("%q is %q, want %q", version, got, want)
		}
	}
}

// What databases say of themselves; that those which the tests start do so, the tests on real servers tell.
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
