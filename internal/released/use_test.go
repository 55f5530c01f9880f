package released

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The command, installed by its path and version, says which it is, and locks.
func TestInstall(t *testing.T) {
	effort.Long(t)
	n := arrive(t)
	n.run(t, "go", "install", root+"/cmd/holdfast@"+version)
	holdfast := filepath.Join(n.folder, "bin", "holdfast")
	if said := n.run(t, holdfast, "version"); !strings.HasPrefix(said, "holdfast "+version+" ") {
		t.Errorf("holdfast version says %q, want %s", said, version)
	}
	store := "file:" + filepath.Join(n.folder, "locks.db")
	if said := n.run(t, holdfast, "run", "--backend", store, "hello", "--", "echo", "hi"); said != "hi\n" {
		t.Errorf("the job under the lock says %q", said)
	}
}

const twelveLines = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "modernc.org/sqlite"
)

func main() {
	for _, url := range os.Args[1:] {
		ctx := context.Background()
		client, err := holdfast.Open(ctx, url)
		if err != nil {
			panic(err)
		}
		err = client.Mutex("orders/42").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
			_, err := fmt.Println("held with token", lease.Token())
			return err
		})
		fmt.Println(err, client.Close(ctx))
	}
}
`

// A small program, which needs nothing but go mod tidy, locks on a file and on a Redis server.
func TestProgram(t *testing.T) {
	effort.Long(t)
	redis := servers.Redis(t)
	n := arrive(t).in(t, "program", map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.26.0\n",
		"main.go": twelveLines,
	})
	n.run(t, "go", "get", root+"@"+version)
	n.run(t, "go", "mod", "tidy")
	n.run(t, "go", "build", "-o", "program", ".")
	program := filepath.Join(n.folder, "program")
	said := n.run(t, program, "file:"+filepath.Join(n.folder, "locks.db"), "redis://"+redis.Addr)
	if want := regexp.MustCompile(`^(held with token \d+\n<nil> <nil>\n){2}$`); !want.MatchString(said) {
		t.Errorf("the program says %q, want %s", said, want)
	}
}

const forgetful = `package forgetful

import (
	"context"

	"github.com/holdfast-go/holdfast"
)

func ship(ctx context.Context, m *holdfast.Mutex, write func(context.Context) error) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		return write(ctx)
	})
}
`

// The check of programs, installed by its path and version, finds a mistake by itself and for go vet.
func TestInstallVet(t *testing.T) {
	effort.Long(t)
	n := arrive(t)
	n.run(t, "go", "install", root+"/holdfastvet/cmd/holdfastvet@"+version)
	holdfastvet := filepath.Join(n.folder, "bin", "holdfastvet")
	n = n.in(t, "forgetful", map[string]string{
		"go.mod": "module example.com/forgetful\n\ngo 1.26.0\n", "forgetful.go": forgetful,
	})
	n.run(t, "go", "get", root+"@"+version)
	for _, command := range [][]string{{holdfastvet, "./..."}, {"go", "vet", "-vettool=" + holdfastvet, "./..."}} {
		said := n.complaint(t, command[0], command[1:]...)
		if !strings.Contains(said, "forgetful.go:11:16: ctx is from outside") {
			t.Errorf("%s says %q", filepath.Base(command[0]), said)
		}
	}
}
