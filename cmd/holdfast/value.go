package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// A kept is a value as it is shown, as text or, where its bytes are not UTF-8, which JSON cannot have, in base64.
type kept struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Base64 []byte `json:"base64,omitempty"`
	Token  string `json:"token"` // of the lease that set it, in decimal
	Set    string `json:"set"`
}

func newKept(name string, v holdfast.Value) kept {
	k := kept{Name: name, Token: decimal(v.Token), Set: v.Set.UTC().Format(time.RFC3339Nano)}
	if utf8.ValidString(v.Text) {
		k.Value = v.Text
	} else {
		k.Base64 = []byte(v.Text)
	}
	return k
}

// valueVerb is holdfast value.
func (a *app) valueVerb() *cobra.Command {
	c := &cobra.Command{
		Use:   "value NAME",
		Short: "Print the value of a lock",
		Long: `Value prints the value of a lock: a text that a holder has stored with it, by set or in a program. The value
stays until another is set, also while nobody holds the lock. If there is none, value exits with 1. With
--json, a value that is not UTF-8 is printed in base64, as "base64" in place of "value".

` + helpCodes + helpSignal + `
  1    the lock has no value, or any other error` + helpUsage + helpUnavailable,
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error {
				if err := s.checkName(args[0]); err != nil {
					return err
				}
				return a.showValue(c.Context(), s, args[0])
			})
		},
	}
	a.backend.register(c)
	return c
}

func (a *app) showValue(ctx context.Context, s *store, name string) error {
	v, err := s.Value(ctx, name)
	switch {
	case err != nil:
		return err
	case v == (holdfast.Value{}):
		return fail("%s has no value", printable(name))
	case a.json:
		return printJSON(a.out, newKept(name, v))
	case isTerminal(a.out):
		_, err = fmt.Fprintln(a.out, printable(v.Text))
	default: // a script gets what was set
		_, err = fmt.Fprintln(a.out, v.Text)
	}
	return err
}

// setVerb is holdfast set.
func (a *app) setVerb() *cobra.Command {
	var remove bool
	c := a.handleVerb("set HANDLE TEXT|--remove", "Store a value with a lock, for its next holders",
		`Set stores the text as the value of the lock of the handle; value NAME prints it. The value stays until another
is set, also after the lock is released; --remove removes it. If the text is "-", set reads it from standard input,
without the newline at its end. Set also renews the lock, as renew does.`,
		nil)
	c.Flags().BoolVar(&remove, "remove", false, "remove the value")
	c.Args = takes(1, 2)
	c.RunE = func(c *cobra.Command, args []string) error {
		if remove == (len(args) == 2) {
			return usage("give either a text or --remove")
		}
		text, err := a.textOf(args[1:])
		if err != nil {
			return err
		}
		return a.use(c.Context(), func(s *store) error {
			return handleFailed(a.set(c.Context(), s, args[0], text))
		})
	}
	return c
}

// textOf returns the text of an argument, or what "-" stands for; none where there is no argument.
func (a *app) textOf(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(a.in, driver.MaxValue+2)); err != nil {
			return "", fmt.Errorf("read the value from standard input: %w", err)
		}
		if n := len(text); n > 0 && text[n-1] == '\n' {
			text = text[:n-1]
		}
		if len(text) == 0 {
			return "", usage("standard input is empty; use --remove to remove the value")
		}
	}
	if len(text) > driver.MaxValue {
		return "", usage("the text is too long; a value has at most %d bytes", driver.MaxValue)
	}
	return string(text), nil
}

// set sets the value of a detached lock, and leaves it taken, also when the value could not be set.
func (a *app) set(ctx context.Context, s *store, handle, text string) error {
	lease, err := s.Resume(ctx, handle)
	if err != nil {
		return err
	}
	s.leaves = true
	if err := lease.SetValue(ctx, text); err != nil {
		_, left := lease.Detach(ctx)
		return errors.Join(err, left)
	}
	return a.detachAgain(ctx, lease)
}
