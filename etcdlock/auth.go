package etcdlock

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// An authenticator asks for tokens where everything is asked. The client's own goes round all members, and so comes
// again and again to one that hangs; and the one that is asked next may not know yet what another has just given out.
type authenticator struct {
	clientv3.Auth
	d *Driver
}

// Authenticate asks for a token, as [clientv3.Auth] says. A stream that is to begin with it is not late meanwhile:
// servers take their time over passwords.
func (a authenticator) Authenticate(
	ctx context.Context, name, password string,
) (*clientv3.AuthenticateResponse, error) {
	if impatience, ok := ctx.Value(impatienceKey{}).(*time.Timer); ok && impatience.Stop() {
		defer impatience.Reset(silence)
	}
	answer, _, err := ask(ctx, a.d, func(ctx context.Context, m *member) (*pb.AuthenticateResponse, error) {
		return m.auth.Authenticate(ctx, &pb.AuthenticateRequest{Name: name, Password: password})
	})
	return (*clientv3.AuthenticateResponse)(answer), rpctypes.Error(err)
}

// authenticate has the driver's own client, which nobody uses yet, get its tokens so.
func (d *Driver) authenticate() {
	if d.client.Username != "" {
		d.client.Auth = authenticator{d.client.Auth, d}
	}
}

// syncTime is how long the members may take to say which ones there are.
const syncTime = 5 * time.Second

// syncEvery looks now and then which members there are, until the driver ends.
func (d *Driver) syncEvery(pause time.Duration) {
	for driver.Sleep(d.lifetime, pause) == nil {
		ctx, cancel := context.WithTimeout(d.lifetime, syncTime)
		_ = d.client.Sync(ctx) // it is tried again
		cancel()
	}
}
