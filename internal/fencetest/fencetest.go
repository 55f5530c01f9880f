// Package fencetest tries resources that refuse holders who lost their lock, for tests.
package fencetest

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// A Trial uses resources by their names, under tokens.
type Trial struct {
	T   testing.TB
	Use func(resource string, token uint64) error
}

// Admits fails unless a resource can be used under a token.
func (r Trial) Admits(resource string, token uint64) {
	r.T.Helper()
	if err := r.Use(resource, token); err != nil {
		r.T.Errorf("token %d for %.20q: %v", token, resource, err)
	}
}

// Refuses fails unless a token is stale for a resource, because a greater one was there before.
func (r Trial) Refuses(resource string, token uint64) {
	r.T.Helper()
	if err := r.Use(resource, token); !errors.Is(err, fence.ErrStale) {
		r.T.Errorf("token %d for %.20q: %v, want ErrStale", token, resource, err)
	}
}
