package servertables

import "testing"

// Messages name a statement by what it does, not by what is said about it.
func TestTitle(t *testing.T) {
	for statement, want := range map[string]string{
		"DROP TABLE a": "DROP TABLE a",
		"\n-- Makes b.\n\n\tCREATE TABLE b (\n\tc": "CREATE TABLE b (",
		"-- nothing": "-- nothing",
	} {
		if got := title(statement); got != want {
			t.Errorf("the title of %q is %q, want %q", statement, got, want)
		}
	}
}

func TestIsOldMariaDB(t *testing.T) {
	for version, old := range map[string]bool{
		"5.5.68-MariaDB": true, "9.9.9-MariaDB": true, "10.0.1-MariaDB": true, "10.5.29-MariaDB": true,
		"10.6.0-MariaDB": false, "10.11.19-MariaDB-0+deb12u1": false, "11.4.2-MariaDB": false,
		"5.5.5-10.5.29-MariaDB": true, "5.5.5-10.6.1-MariaDB": false, "MariaDB": false,
	} {
		if isOldMariaDB(version) != old {
			t.Errorf("%s: want %t", version, old)
		}
	}
}
