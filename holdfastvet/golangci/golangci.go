// Package golangci gives the checks of holdfastvet to golangci-lint, as the plugin named holdfast: docs/vet.md shows
// the configuration.
package golangci

import (
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

func init() { register.Plugin("holdfast", newPlugin) }

// A plugin is the checks with the settings that .golangci.yml has for them.
type plugin struct {
	WriteWithoutToken bool `json:"writewithouttoken"` // run this one, too
}

func newPlugin(settings any) (register.LinterPlugin, error) {
	return register.DecodeSettings[plugin](settings)
}

// BuildAnalyzers lists the checks to run.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	if p.WriteWithoutToken {
		return append(slices.Clone(holdfastvet.Analyzers), holdfastvet.WriteWithoutToken), nil
	}
	return holdfastvet.Analyzers, nil
}

// GetLoadMode says that the checks need types.
func (p plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
