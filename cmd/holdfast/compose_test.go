//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What a compose file of ours may say, of what docs.docker.com/reference/compose-file has. Any other key is an error.
type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]struct{}
}

type composeService struct {
	Image       string
	Command     string
	Restart     string
	Environment map[string]string
	Ports       []string
	Volumes     []string
}

// compose starts the servers of the compose file as the images would, and looks whether the lock can be had there.
func (d *desk) compose(t *testing.T) {
	t.Helper()
	file := d.composeFile(t)
	for name, service := range file.Services {
		if service.Image != d.engine.image {
			t.Errorf("%s is %s; the page is for %s", name, service.Image, d.engine.image)
		}
		if !slices.Contains([]string{"", "unless-stopped", "always"}, service.Restart) {
			t.Errorf("%s has an unknown restart %q", name, service.Restart)
		}
		for _, v := range service.Volumes {
			volume, path, _ := strings.Cut(v, ":")
			if _, declared := file.Volumes[volume]; !declared || path != d.engine.data {
				t.Errorf("%s has the volume %s; it must be declared, and be for %s", name, v, d.engine.data)
			}
		}
	}
	d.engine.compose(t, d, file)
	d.do(t, exchange{"HOLDFAST_BACKEND=" + d.url + " holdfast run hello -- echo hi", "...hi"})
}

func (d *desk) composeFile(t *testing.T) (file composeFile) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, "home/you/compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("the compose file: %v", err)
	}
	return file
}

// only returns the one service of a compose file, whose port must be published to this machine alone.
func (f composeFile) only(t *testing.T, name, port string) composeService {
	t.Helper()
	service, there := f.Services[name]
	if !there || len(f.Services) != 1 {
		t.Fatalf("the compose file has %v, want %s alone", f.Services, name)
	}
	if want := "127.0.0.1:" + port + ":" + port; !slices.Equal(service.Ports, []string{want}) {
		t.Errorf("the service has the ports %q, want %s", service.Ports, want)
	}
	return service
}
