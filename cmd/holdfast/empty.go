package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unsetHint is what most often makes an empty text.
const unsetHint = "is a shell variable not set?"

// refuseEmpty refuses flags with an empty text, which is what a shell makes of a variable that is not set. Without this
// they would pass for flags that were not given, and mean another backend, or all claims in the place of one.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = usage("--%s is empty; %s Give it a value, or leave it out", f.Name, unsetHint)
		}
	})
	return err
}

// hasEmpty reports whether one of the arguments is empty.
func hasEmpty(args []string) bool { return slices.Contains(args, "") }
