package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// parts are what another process can do, given its arguments. What it prints are its results.
var parts = map[string]func(args []string) error{
	"hold":   holdPart,
	"parent": parentPart,
	"hammer": hammerPart,
	"wait":   waitPart,
	"open":   openPart,
	"refuse": refusePart,
	"write":  writePart,
}

func TestMain(m *testing.M) { played.Main(m, parts) }

// holdPart queues a claim and keeps it until its input ends. Its arguments are the file, the lock, the weight ("1" for
// a mutex, "reader" or "writer") and, if the claim should outlive the process, "detached".
func holdPart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	return hold(d, args)
}

func hold(d *drivertest.Facade, args []string) error {
	kinds := map[string]func(string) driver.Claim{"mutex": mutex, "reader": reader, "writer": writer}
	c := kinds[args[2]](args[1])
	c.Detached = len(args) > 3
	st, err := d.Request(context.Background(), c)
	if err != nil {
		return err
	}
	fmt.Println(map[bool]string{true: "held", false: "queued"}[st.Granted])
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// parentPart is holdPart with a child that inherits what keeps the claim alive, and lives until the input that both
// share ends.
func parentPart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	child := exec.Command("cat")
	child.Stdin, child.ExtraFiles = os.Stdin, driver.Inherit(d)
	if err := child.Start(); err != nil {
		return err
	}
	return hold(d, args)
}

// waitPart queues a claim, waits for its grant, and keeps it until its input ends. Its arguments are
// the file and the lock.
func waitPart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	c := mutex(args[1])
	if _, err := d.Request(context.Background(), c); err != nil {
		return err
	}
	fmt.Println("queued")
	if _, err := await(d, c); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// openPart tells whether a file is refused, and of the reason what it is about and what to do.
func openPart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if err == nil {
		return d.Close()
	}
	advice := "remove the folder while no program uses the locks"
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), args[0]+".clients:") ||
		!strings.Contains(err.Error(), advice) {
		return err
	}
	fmt.Println("refused: " + args[0] + ".clients: " + advice)
	return nil
}

// refusePart tells that a file is refused, or else what comes of asking for the lock m in it.
func refusePart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if errors.Is(err, driver.ErrRefused) {
		fmt.Println("refused")
		return nil
	}
	if err != nil {
		return err
	}
	return hold(d, []string{args[0], "m", "mutex"})
}

// writePart is in the middle of a write, as a client is, until its input ends. Its argument is the file.
func writePart(args []string) error {
	turn, err := os.Open(args[0] + ".clients")
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", args[0])
	if err != nil {
		return err
	}
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("writes")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
