package redislock

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// narrow has a driver run its scripts as a server does that was built for 32 bits: there %d of string.format cannot
// print a time. What it prints instead depends on the processor.
func narrow(d *QueueDriver, instead string) {
	const start = "local call = redis.call\n"
	format := strings.Replace(narrowFormat, "INSTEAD", instead, 1)
	of := &d.scripts
	for _, s := range []*script{&of.request, &of.renew, &of.release, &of.queue, &of.propose} {
		*s = newScript(strings.Replace(s.text, start, start+format, 1))
	}
}

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
			d := openWith(t, srv.Addr, &Options{Prefix: processor})
			narrow(d, instead)
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
			if st, _, err := d.Propose(t.Context(), driver.Claim{
				Name: "votes", ID: driver.NewID(), Weight: 1, Limit: 2, TTL: time.Minute,
			}, third.Token); err != nil || !st.Granted || st.Token != third.Token {
				t.Errorf("a vote is %+v, %v", st, err)
			}
		})
	}
}
