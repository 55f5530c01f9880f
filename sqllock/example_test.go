package sqllock_test

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/sqllock"
)

// Where an administrator or a tool runs what changes a database, give them the script.
func ExampleMigrateScript() {
	script, err := sqllock.MigrateScript(sqllock.MySQL)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _, _ := strings.Cut(script, "\n")
	fmt.Println(first)
	// Output: -- Makes what Holdfast needs in this database. Run it, as in: mysql DATABASE < FILE
}
