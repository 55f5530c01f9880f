package redislock_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A server that is too old refuses, and the error says what to do.
func TestTooOld(t *testing.T) {
	if v, _ := servers.Named(os.Getenv("HOLDFAST_EXTRA")); v.Standing != servers.Refused {
		t.Skip("for HOLDFAST_EXTRA with a version that is too old")
	}
	server := servers.Redis(t)
	d := openAny(t, "redis://"+server.Addr+"?"+patiently)
	_, err := d.Request(t.Context(), driver.Claim{Name: "old", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: 60e9})
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "Redis 7.0 or newer") {
		t.Errorf("it says %v", err)
	}
}

// Valkey tells a version of Redis, too, which is not what people have installed.
func TestToldVersion(t *testing.T) {
	v, ok := servers.Named(os.Getenv("HOLDFAST_EXTRA"))
	if !ok || v.Standing == servers.Refused {
		t.Skip("for HOLDFAST_EXTRA with one version")
	}
	findings, err := driver.Check(t.Context(), openAny(t, "redis://"+servers.Redis(t).Addr), false)
	if told := facts(findings, driver.Fine); err != nil || !strings.Contains(told, "version is "+v.Number) {
		t.Errorf("it says %q, %v", told, err)
	}
}
