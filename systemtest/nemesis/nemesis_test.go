package nemesis

import (
	"flag"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/files"
)

var write = flag.Bool("nemesis.write", false, "write the table of faults into docs/proof.md")

// Every store has each fault, or says why not, and docs/proof.md has what stores say.
func TestEveryFaultHasAnAnswer(t *testing.T) {
	effort.Long(t)
	stores := make([]*Store, len(Kinds))
	t.Run("stores", func(t *testing.T) {
		for i, k := range Kinds {
			t.Run(k.Name, func(t *testing.T) {
				t.Parallel()
				stores[i] = k.Start(t)
				if stores[i].Name != k.Name {
					t.Errorf("it calls itself %s", stores[i].Name)
				}
				complete(t, stores[i])
			})
		}
	})
	if !t.Failed() {
		files.HasTable(t, "docs/proof.md", "| |", table(stores), *write,
			"go test ./systemtest/nemesis -nemesis.write")
	}
}

// complete fails the test unless the store has an answer to each fault, and to no other.
func complete(t *testing.T, s *Store) {
	for _, name := range Names {
		_, here := s.Fault(name)
		if why := s.Absent[name]; here == (why != "") {
			t.Errorf("%s: here %v, and absent because %q", name, here, why)
		}
	}
	for _, f := range s.Faults {
		if !slices.Contains(Names, f.Name) {
			t.Errorf("%q is not among the names", f.Name)
		}
	}
}

// table says of each fault what it costs on each store.
func table(stores []*Store) string {
	head, line := "| |", "|---|"
	for _, s := range stores {
		head, line = head+" "+s.Name+" |", line+":-:|"
	}
	rows := []string{head, line}
	for _, name := range Names {
		row := "| " + name + " |"
		for _, s := range stores {
			cell := ""
			if f, ok := s.Fault(name); ok {
				cell = f.Harm.String()
				if f.Young {
					cell += ", young"
				}
			}
			row += " " + cell + " |"
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n") + "\n"
}
