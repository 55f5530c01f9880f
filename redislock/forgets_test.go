package redislock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestServerForgets(t *testing.T) {
	t.Parallel()
	leasedtest.RestartedEmpty(t, leasedtest.Engine{
		Open: func(t testing.TB, addrs ...string) driver.Driver { return openAt(t, addrs[0], "") },
	}, servers.Redis(t))
}
