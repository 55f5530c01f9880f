package main

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"
)

// completionVerb is holdfast completion.
func (a *app) completionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script for a shell",
		Long: `Completion prints a script with which a shell completes verbs, flags, and the names of locks that are held
or waited for:

  bash        source <(holdfast completion bash)
  zsh         holdfast completion zsh > "${fpath[1]}/_holdfast"
  fish        holdfast completion fish > ~/.config/fish/completions/holdfast.fish
  powershell  holdfast completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name one shell: bash, zsh, fish or powershell")
			}
			return a.printCompletion(c.Root(), args[0])
		},
	}
}

func (a *app) printCompletion(root *cobra.Command, shell string) error {
	var script bytes.Buffer
	if err := complete(root, shell, &script); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.out, map[string]string{"shell": shell, "script": script.String()})
	}
	_, err := script.WriteTo(a.out)
	return err
}

func complete(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	default:
		return usage("there is no completion for this shell; name bash, zsh, fish or powershell")
	}
}
