package sqllock

import "testing"

// The keys are those that the others compute: golang-migrate's are from its own tests.
func TestKeysOfMigrations(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{GolangMigrateKey("database_name"), "1764327054"},
		{GolangMigrateKey("database_name", "schema_name_1"), "2453313553"},
		{GolangMigrateKey("database_name", "schema_name_1", "schema_name_2"), "3743845847"},
		{RailsMigrateKey("app"), "6939591962871035475"},
	} {
		if row.got != row.want {
			t.Errorf("%s, want %s", row.got, row.want)
		}
	}
}
