package servers_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// A pooler that ends by itself comes back.
func TestPgBouncerIsStartedAgain(t *testing.T) {
	s := servers.PgBouncer(t, servers.Postgres(t), "session")
	list := "/proc/" + strconv.Itoa(s.Pid) + "/task/" + strconv.Itoa(s.Pid) + "/children"
	children, err := os.ReadFile(list)
	if err != nil {
		t.Skipf("the kernel does not tell children: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		now, err := os.ReadFile(list)
		if another := strings.TrimSpace(string(now)); err == nil && another != "" && another != strconv.Itoa(pid) {
			if conn, err := net.Dial("tcp", s.Addr); err == nil {
				conn.Close()
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("it is not back: %s, %v", now, err)
		}
	}
}
