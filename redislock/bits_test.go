package redislock

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// narrow are the scripts as a server that was built for 32 bits runs them: there %d of string.format cannot print a
// time. What it prints instead depends on the processor.
type narrow struct {
	fs.FS
	instead string
}

func (n *narrow) Open(name string) (fs.File, error) {
	file, err := n.FS.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(n.FS, name)
	if err != nil {
		return nil, err
	}
	const start = "local call = redis.call\n" // of a script, but not of what it includes
	before, after, found := strings.Cut(string(text), start)
	if !found {
		return file, nil
	}
	return narrowFile{file, strings.NewReader(before + start + strings.Replace(narrowFormat, "INSTEAD", n.instead, 1) +
		after)}, nil
}

type narrowFile struct {
	fs.File
	text *strings.Reader
}

func (f narrowFile) Read(b []byte) (int, error) { return f.text.Read(b) }

const narrowFormat = `
local string = setmetatable({format = function(form, ...)
  local values, at = {...}, 0
  for verb in form:gmatch('%%[%d%.]*(%a)') do
    at = at + 1
    if verb == 'd' and math.abs(values[at]) > 2147483647 then values[at] = INSTEAD end
  end
  return string.format(form, unpack(values))
end}, {__index = string})
`

// A server that was built for 32 bits counts time as others do.
func TestServerOf32Bits(t *testing.T) {
	srv := servers.Redis(t)
	for processor, instead := range map[string]string{"ARM": "2147483647", "x86": "-2147483648"} {
		t.Run(processor, func(t *testing.T) {
			d := openWith(t, srv.Addr, &Options{sources: &narrow{sources, instead}, Prefix: processor})
			held := claimed.Acquire(t, d, mutex("jobs", "a"))
			second, third := waiting(t, d, mutex("jobs", "b")), waiting(t, d, mutex("jobs", "c"))
			if now := uint64(time.Now().UnixMicro()); !(held.Token < second.Token && second.Token < third.Token) ||
				third.Token > now {
				t.Errorf("tokens %d, %d, %d at %d: want times that grow", held.Token, second.Token, third.Token, now)
			}
			if err := d.Release(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			claimed.Acquire(t, d, second)
			line, err := d.Queue(t.Context(), "jobs")
			if err != nil || len(line) != 2 || !line[0].Granted || line[1].Granted {
				t.Fatalf("the queue is %+v, %v; want one that holds, and one that waits", line, err)
			}
			for _, e := range line {
				if e.Left <= 0 || e.Left > e.TTL {
					t.Errorf("%s lives for %v more, want at most %v", e.ID, e.Left, e.TTL)
				}
			}
			if st, _, err := d.Vote(t.Context(), driver.Claim{
				Name: "votes", ID: driver.NewID(), Weight: 1, Limit: 2, TTL: time.Minute,
			}, third.Token); err != nil || !st.Granted || st.Token != third.Token {
				t.Errorf("a vote is %+v, %v", st, err)
			}
		})
	}
}
