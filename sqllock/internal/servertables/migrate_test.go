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
