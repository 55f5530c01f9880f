package sqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

const (
	hammers      = 16
	hammerCycles = 25
)

// Many processes at once see no error, never hold the lock together, and get greater tokens one after the other.
func TestHammer(t *testing.T) {
	path := newFile(t)
	open(t, path)
	ledger := path + ".ledger"
	if err := os.WriteFile(ledger, []byte("0 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range hammers {
		p := played.Start(t, "hammer", path, ledger)
		wg.Go(func() { p.Ends(t) })
	}
	wg.Wait()
	times, _, err := readLedger(ledger)
	if want := hammers * hammerCycles; err != nil || times != want {
		t.Errorf("the ledger has %d entries, %v; want %d: some were lost", times, err, want)
	}
}

// hammerPart takes a lock again and again, and changes a file that only the lock protects.
func hammerPart(args []string) error {
	d, err := drivertest.Open(context.Background(), fileURL(args[0]))
	if err != nil {
		return err
	}
	for range hammerCycles {
		if err := hammer(d, args[1]); err != nil {
			return err
		}
	}
	return d.Close()
}

func hammer(d *drivertest.Facade, ledger string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	c := mutex("m")
	st, err := d.Request(ctx, c)
	for err == nil && !st.Granted {
		st, err = d.Wait(ctx, c)
	}
	if err == nil {
		err = enter(ledger, st.Token)
	}
	return errors.Join(err, d.Release(ctx, c))
}

// enter counts an entry of the ledger and notes the token, which must be greater than the last.
func enter(ledger string, token uint64) error {
	times, last, err := readLedger(ledger)
	switch {
	case err != nil:
		return err
	case token <= last:
		return fmt.Errorf("token %d after %d", token, last)
	}
	return os.WriteFile(ledger, fmt.Appendf(nil, "%d %d", times+1, token), 0o600)
}

func readLedger(ledger string) (times int, last uint64, err error) {
	text, err := os.ReadFile(ledger)
	if err != nil {
		return 0, 0, err
	}
	first, second, ok := strings.Cut(string(text), " ")
	if !ok {
		return 0, 0, fmt.Errorf("two were in the ledger at once: it says %q", text)
	}
	if times, err = strconv.Atoi(first); err != nil {
		return 0, 0, err
	}
	last, err = strconv.ParseUint(second, 10, 64)
	return times, last, err
}
