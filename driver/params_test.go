package driver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func params(query string) *driver.Params {
	return driver.NewParams(&url.URL{RawQuery: query})
}

func TestParams(t *testing.T) {
	p := params("prefix=a%2Fb&ttl=1m30s&pool=7&tls=true&keep=1d12h")
	if got := p.String("prefix", "x"); got != "a/b" {
		t.Errorf("prefix is %q", got)
	}
	if got := p.Duration("ttl", 0); got != 90*time.Second {
		t.Errorf("ttl is %v", got)
	}
	if got := p.Duration("keep", 0); got != 36*time.Hour {
		t.Errorf("keep is %v", got)
	}
	if got := p.Int("pool", 0); got != 7 {
		t.Errorf("pool is %d", got)
	}
	if got := p.Bool("tls", false); !got {
		t.Errorf("tls is %v", got)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestParamsDefaults(t *testing.T) {
	p := params("")
	if p.String("prefix", "x") != "x" || p.Duration("ttl", time.Minute) != time.Minute ||
		p.Int("pool", 7) != 7 || !p.Bool("tls", true) {
		t.Error("a parameter that is not given has another value than its default")
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// An empty prefix is not a prefix that was not given.
func TestParamsEmptyString(t *testing.T) {
	if got := params("prefix=").String("prefix", "holdfast:"); got != "" {
		t.Errorf("prefix is %q, given was the empty one", got)
	}
}

func TestParamsErrors(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"prefx=a", `unknown parameter "prefx"; this backend takes: prefix, ttl, pool, tls`},
		{"ttl=3", "parameter ttl: it should be a duration like 1m30s or 1d"},
		{"pool=many", "parameter pool: it should be a whole number"},
		{"tls=perhaps", "parameter tls: it should be true or false"},
		{"prefix=a&prefix=b", "parameter prefix: it is given 2 times"},
		{"prefix=%zz", "the URL's parameters cannot be parsed"},
		{"ttl=secret", "parameter ttl"},
	} {
		p := params(tt.query)
		p.String("prefix", "")
		p.Duration("ttl", 0)
		p.Int("pool", 0)
		p.Bool("tls", false)
		err := p.Err()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", tt.query, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the value, which may be a password put into the wrong place: %v",
				tt.query, err)
		}
	}
}
