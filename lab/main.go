// Command lab shows how locks fail, on real servers, and that Holdfast's do not.
//
//	go run ./lab list
//	go run ./lab all --out DIR
//	go run ./lab replay FILE --out DIR
//	go run ./lab flashsale --backend all
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lab/subprocess"
)

func main() {
	subprocess.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	c := &cobra.Command{
		Use:           "lab",
		Short:         "See every textbook lock fail on a real server, and what Holdfast does in its place",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(list(), run(), runAll(), replay(), flashSale())
	return c
}
