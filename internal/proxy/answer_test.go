package proxy_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

func TestReact(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.React(func(chunk []byte) proxy.Reaction {
		switch strings.TrimSpace(string(chunk)) {
		case "who":
			return proxy.Reaction{Answer: []byte("me\n")}
		case "leave":
			return proxy.Reaction{Cut: true}
		default:
			return proxy.Reaction{Pass: []byte(strings.ToUpper(string(chunk)))}
		}
	})
	for said, want := range map[string]string{"who": "me", "small": "SMALL"} {
		c.say(said)
		if got, err := c.hear(long); got != want || err != nil {
			t.Errorf("said %q, heard %q, %v; want %q", said, got, err, want)
		}
	}
	e.got(t, "SMALL")
	p.React(nil)
	c.call("small")
	e.got(t, "small")
	p.React(func([]byte) proxy.Reaction { return proxy.Reaction{Cut: true} })
	c.say("leave")
	c.ends()
	e.got(t)
}
