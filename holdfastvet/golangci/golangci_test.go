package golangci_test

import (
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"

	_ "github.com/holdfast-go/holdfast/holdfastvet/golangci"
)

// Golangci-lint finds the checks by the name of the plugin, and its settings choose among them.
func TestPlugin(t *testing.T) {
	for _, row := range []struct {
		settings any
		want     string
	}{
		{nil, "lockctx lostrelease releaseerr"},
		{map[string]any{"writewithouttoken": true}, "lockctx lostrelease releaseerr writewithouttoken"},
	} {
		if is := checks(t, row.settings); is != row.want {
			t.Errorf("with the settings %v it has the checks %q, want %q", row.settings, is, row.want)
		}
	}
}

func TestUnknownSetting(t *testing.T) {
	build, err := register.GetPlugin("holdfast")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build(map[string]any{"writewithoutoken": true}); err == nil {
		t.Error("a setting that does not exist is accepted")
	}
}

func checks(t *testing.T, settings any) string {
	t.Helper()
	build, err := register.GetPlugin("holdfast")
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := build(settings)
	if err != nil {
		t.Fatal(err)
	}
	analyzers, err := plugin.BuildAnalyzers()
	if err != nil || plugin.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("load mode %q, error %v", plugin.GetLoadMode(), err)
	}
	var names []string
	for _, a := range analyzers {
		names = append(names, a.Name)
	}
	return strings.Join(names, " ")
}
