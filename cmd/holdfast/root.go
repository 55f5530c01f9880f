package main

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"

	"github.com/spf13/cobra"
)

// An app is one run of the command.
type app struct {
	streams
	backend backendFlags
	trace   trace
	json    bool

	telling <-chan struct{} // closed when all is told that is told aside; nil if nothing is
}

// run is the whole command. It returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	a.trace.print = a.printAnswer
	a.backend.warn, a.backend.tell = a.warn, a.trace.add
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.trace.await()
	if err == nil {
		return 0
	}
	a.json = a.json || wantsJSON(args)
	e := &exit{code: exitFailure, err: err}
	errors.As(err, &e)
	if e.err != nil {
		a.complain(e)
	}
	return e.code
}

// wantsJSON reports whether a command line asks for JSON, perhaps behind a flag that ended the look at all flags.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end] // what follows is another command's
	}
	return slices.Contains(args, "--json")
}

// extraVerbs are those that only some builds have.
var extraVerbs []func(*app) *cobra.Command

func (a *app) root() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "holdfast",
		Short: "Locks for commands, shared by processes and machines",
		Long: `Holdfast runs commands under locks that processes and machines share.

  holdfast run nightly-report -- ./report.sh    one at a time, first come first served
  holdfast run -n backup -- ./backup.sh         exit with 75 if it is already running

Without --backend the locks are in a file of this user on this machine.

` + runExitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownVerb,

		PersistentPreRunE: refuseEmpty,
		RunE: func(c *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion()
			}
			return a.printStart()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true // ours speaks JSON too
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; %s --help shows the flags", err, c.CommandPath())
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.AddCommand(a.runVerb(), a.electVerb(), a.lsVerb(), a.showVerb(), a.breakVerb(), a.revokeVerb(), a.leaderVerb(),
		a.valueVerb(), a.setVerb(), a.acquireVerb(), a.renewVerb(), a.checkVerb(), a.releaseVerb(),
		a.doctorVerb(), a.reapVerb(), a.migrateVerb(), a.versionVerb(), a.completionVerb())
	for _, verb := range extraVerbs {
		root.AddCommand(verb(a))
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownVerb
	}
	return root
}

// unknownVerb repeats what it does not know only if that looks like a verb: it may be a URL with a password.
func unknownVerb(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case likeVerb().MatchString(args[0]):
		return usage("there is no verb %q; holdfast --help shows them", args[0])
	default:
		return usage("there is no such verb; holdfast --help shows them")
	}
}

var likeVerb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z-]+$`)
})

// knownVerb checks the arguments of help.
func knownVerb(c *cobra.Command, args []string) error {
	_, left, _ := c.Root().Find(args) // what is left tells more than its error
	return unknownVerb(c, left)
}

// takes makes a check of the number of arguments, none of which may be empty. Its error shows how to use
// the verb.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("an argument is missing: %s", c.UseLine())
		case len(args) == 1 && most == 0:
			return usage("1 argument is too many: %s", c.UseLine())
		case len(args) > most:
			return usage("%d arguments are too many: %s", len(args), c.UseLine())
		case hasEmpty(args):
			return usage("an argument is empty; %s The form is: %s", unsetHint, c.UseLine())
		}
		return nil
	}
}
