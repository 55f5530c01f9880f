package child

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ReapOrphans waits for processes that others have left to this one, until ctx ends. The first process of a container
// gets those of all others, and while no command runs nobody else waits for them. In other processes it does nothing.
func ReapOrphans(ctx context.Context) {
	if os.Getpid() != 1 {
		return
	}
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	defer signal.Stop(died)
	for {
		reapAll()
		select {
		case <-died:
		case <-ctx.Done():
			return
		}
	}
}

func reapAll() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 && err != syscall.EINTR {
			return
		}
	}
}
