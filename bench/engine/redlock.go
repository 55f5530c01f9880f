package engine

import (
	"fmt"
	"strings"
	"testing"
)

// redlockServers is how many servers vote: two of them may fail.
const redlockServers = 5

// Redlock starts redis-servers that know nothing of each other.
func Redlock(t testing.TB) *Engine {
	t.Helper()
	first := Redis(t)
	addrs := []string{first.Addr}
	all := &Engine{Version: fmt.Sprintf("%s, %d servers", first.Version, redlockServers), pid: first.pid}
	for range redlockServers - 1 {
		e := Redis(t)
		addrs, all.others = append(addrs, e.Addr), append(all.others, e.pid)
	}
	all.Addr = strings.Join(addrs, ",")
	return all
}
