package etcdlock

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// syncTime is how long the members may take to say which ones there are.
const syncTime = 5 * time.Second

// syncEvery looks now and then which members there are, until the driver ends. The client would do so while it makes
// connections, which it must not.
func (d *Driver) syncEvery(pause time.Duration) {
	for driver.Sleep(d.lifetime, pause) == nil {
		d.sync()
	}
}

// sync has all members used that vote, at the URLs that they advertise. Where none answers, it is tried again.
func (d *Driver) sync() {
	ctx, cancel := context.WithTimeout(d.lifetime, syncTime)
	defer cancel()
	answer, err := d.memberList(ctx)
	if err != nil {
		return
	}
	var endpoints []string
	for _, m := range answer.Members {
		if m.Name != "" && !m.IsLearner {
			endpoints = append(endpoints, m.ClientURLs...)
		}
	}
	if len(endpoints) > 0 {
		d.members.use(endpoints)
	}
}

// memberList asks which members there are.
func (d *Driver) memberList(ctx context.Context) (*clientv3.MemberListResponse, error) {
	answer, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*clientv3.MemberListResponse, error) {
		return m.cluster.MemberList(ctx)
	})
	return answer, err
}
