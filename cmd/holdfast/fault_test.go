//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The scripts in testdata/faults use a Redis server of their own by two ways: $DIRECT, and $FRAGILE, which the command
// "blackhole" cuts without either side noticing.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"blackhole", "gone", "follow", "starting", "cause", "rotated"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			server := servers.Redis(t)
			way := proxy.New(t, server.Addr)
			testscript.Run(t, testscript.Params{
				Files: []string{"testdata/faults/" + script + ".txtar"},
				Setup: func(env *testscript.Env) error {
					prepare(env, "redis://"+server.Addr)
					env.Setenv("DIRECT", "redis://"+server.Addr)
					env.Setenv("FRAGILE", "redis://"+way.Addr)
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"blackhole":  func(*testscript.TestScript, bool, []string) { way.BlackHole() },
					"heal":       func(*testscript.TestScript, bool, []string) { way.Heal() },
					"stopserver": func(*testscript.TestScript, bool, []string) { server.Kill(t) },
					"rotate": func(ts *testscript.TestScript, _ bool, args []string) {
						conn, err := net.Dial("tcp", server.Addr)
						ts.Check(err)
						defer conn.Close()
						fmt.Fprintf(conn, "AUTH %s\r\nCONFIG SET requirepass %s\r\nCLIENT KILL TYPE normal\r\n"+
							"CLIENT KILL TYPE pubsub\r\nQUIT\r\n", args[0], args[1])
						_, _ = io.ReadAll(conn) // what it says of a first password, which nobody gives, does not matter
					},
					"forbid": func(*testscript.TestScript, bool, []string) {
						server.RedisCommand(t, "ACL", "SETUSER", "default", "nocommands")
					},
					"startserver": func(*testscript.TestScript, bool, []string) { server.Restart(t) },
				},
			})
		})
	}
}
