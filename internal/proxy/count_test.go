package proxy_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

func TestCount(t *testing.T) {
	e, p := between(t)
	c := dial(t, e, p)
	p.Count(proxy.Bytes)
	greeted := p.Answered()
	c.call("four")
	dialOnly(t, p).call("four")
	if n := p.Counted(); n != 10 {
		t.Errorf("counted %d bytes, want 10", n)
	}
	if n := p.Answered() - greeted; n != 10 {
		t.Errorf("the echo is %d bytes, want 10", n)
	}
	p.BlackHole()
	c.say("lost")
	awaitCount(t, p, 15)
	p.Count(proxy.Bytes)
	if n := p.Counted(); n != 0 {
		t.Errorf("a new count begins with %d", n)
	}
}

func set(value string) string {
	return fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value)
}

const get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

func TestRESP(t *testing.T) {
	for _, row := range []struct {
		name, stream string
		want         int
	}{
		{"one command", get, 1},
		{"a pipeline", get + get + get, 3},
		{"a value that looks like commands", set("*9\r\n"+get+"\r\n*1\r\n$4\r\nPING") + get, 2},
		{"an empty value", set("") + get, 2},
		{"words", "PING\r\n" + get + "PING\r\n", 3},
	} {
		for _, size := range []int{1, 2, 3, 7, len(row.stream)} {
			count, got := proxy.RESP(), 0
			for s := row.stream; s != ""; s = s[min(size, len(s)):] {
				got += count([]byte(s[:min(size, len(s))]))
			}
			if got != row.want {
				t.Errorf("%s, in pieces of %d: %d commands, want %d", row.name, size, got, row.want)
			}
		}
	}
}
