package shedlock

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Behind a proxy that gives each transaction one of a few sessions, whose isolation and zone are not ours, locks are
// the same.
func TestPooled(t *testing.T) {
	t.Parallel()
	s := all[1]
	server := s.begin(t, "-c", "default_transaction_isolation=serializable", "-c", "timezone=Asia/Kolkata")
	addr := servers.PgBouncer(t, server, "transaction", "default_pool_size = 3").Addr
	p := peer{s.Pool(t, server.Addr), dbTime[s.Name], "java-host", time.Now}
	excludeEachOther(t, s, s.open(t, addr, "sslmode=disable"), p, "job")
}

// Where sessions get the text of a column as long as it may be, filled up with spaces, locks are the same.
func TestPaddedText(t *testing.T) {
	t.Parallel()
	s := all[0]
	addr := s.begin(t, "--sql-mode=PAD_CHAR_TO_FULL_LENGTH").Addr
	p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
	excludeEachOther(t, s, s.open(t, addr), p, "job")
}
