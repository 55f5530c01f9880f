package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/release"
)

// A version says what this program was built from.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // there were changes beside the revision
	Time     string `json:"time,omitempty"`     // of the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionVerb is holdfast version.
func (a *app) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	v := thisVersion()
	if a.json {
		return printJSON(a.out, v)
	}
	_, err := fmt.Fprintln(a.out, v)
	return err
}

func thisVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: release.Platform}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(release.Version(), info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			v.Time = s.Value
		}
	}
	return v
}

func (v version) String() string {
	build := v.Version
	if v.Revision != "" {
		build += " " + v.Revision
	}
	if v.Modified {
		build += " modified"
	}
	return release.Line(build)
}
