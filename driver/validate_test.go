package driver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var traits = driver.Traits{
	Backend: "narrow", MinTTL: time.Second, MaxTTL: time.Hour, MaxName: 10, Weighted: true, Detach: true,
}

func valid() driver.Claim {
	return driver.Claim{Name: "m", ID: "aZ0-_", Weight: 1, Limit: 1, TTL: time.Minute}
}

func TestValidate(t *testing.T) {
	type (
		claim = driver.Claim
		kind  = driver.Traits
	)
	for _, tt := range []struct {
		name   string
		change func(*claim, *kind)
		want   string // in the error; empty: there is none
		wraps  error
	}{
		{"ordinary", func(*claim, *kind) {}, "", nil},
		{"no name", func(c *claim, _ *kind) { c.Name = "" }, "give the lock a name", driver.ErrInvalidName},
		{"longest name", func(c *claim, _ *kind) { c.Name = strings.Repeat("x", 10) }, "", nil},
		{"name in bytes", func(c *claim, _ *kind) {
			c.Name = strings.Repeat("é", 6)
		}, "12 bytes", driver.ErrInvalidName},
		{"no bound for names", func(c *claim, b *kind) { c.Name, b.MaxName = strings.Repeat("x", 999), 0 }, "", nil},
		{"no ID", func(c *claim, _ *kind) { c.ID = "" }, "claim ID", nil},
		{"longest ID", func(c *claim, _ *kind) { c.ID = strings.Repeat("x", 64) }, "", nil},
		{"long ID", func(c *claim, _ *kind) { c.ID = strings.Repeat("x", 65) }, "claim ID", nil},
		{"odd ID", func(c *claim, _ *kind) { c.ID = "a:b" }, "claim ID", nil},
		{"letters beyond ASCII", func(c *claim, _ *kind) { c.ID = "é" }, "claim ID", nil},
		{"no weight", func(c *claim, _ *kind) { c.Weight = 0 }, "weight 0", nil},
		{"negative weight", func(c *claim, _ *kind) { c.Weight = -1 }, "weight -1", nil},
		{"too heavy", func(c *claim, _ *kind) { c.Weight, c.Limit = 4, 3 }, "from 1 to the limit, 3", nil},
		{"no limit", func(c *claim, _ *kind) { c.Limit = 0 }, "limit 0", nil},
		{"largest limit", func(c *claim, _ *kind) { c.Weight, c.Limit = driver.All, driver.All }, "", nil},
		{"limit too large", func(c *claim, _ *kind) { c.Limit = driver.All + 1 }, "limit 2147483648", nil},
		{"no readers", func(c *claim, b *kind) { c.Limit, b.Weighted = 2, false }, "narrow", errors.ErrUnsupported},
		{"a mutex needs no weights", func(_ *claim, b *kind) { b.Weighted = false }, "", nil},
		{"not detached", func(c *claim, b *kind) {
			c.Detached, b.Detach = true, false
		}, "narrow", errors.ErrUnsupported},
		{"detached", func(c *claim, _ *kind) { c.Detached = true }, "", nil},
		{"no TTL", func(c *claim, b *kind) { c.TTL, b.MinTTL = 0, 0 }, "TTL 0s", nil},
		{"shortest TTL", func(c *claim, _ *kind) { c.TTL = time.Second }, "", nil},
		{"short TTL", func(c *claim, _ *kind) { c.TTL = time.Second - 1 }, "at least 1s", nil},
		{"longest TTL", func(c *claim, _ *kind) { c.TTL = time.Hour }, "", nil},
		{"long TTL", func(c *claim, _ *kind) { c.TTL = time.Hour + 1 }, "at most 1h", nil},
		{"no bound for TTLs", func(c *claim, b *kind) { c.TTL, b.MaxTTL = 1000*time.Hour, 0 }, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, tr := valid(), traits
			tt.change(&c, &tr)
			err := driver.Validate(c, tr)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got error %v, want %q", err, tt.want)
			case tt.wraps != nil && !errors.Is(err, tt.wraps):
				t.Errorf("got error %v, want one that wraps %v", err, tt.wraps)
			}
		})
	}
}
