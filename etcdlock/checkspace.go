package etcdlock

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

const (
	// usualQuota is what a store may grow to unless the server is told otherwise; versions before 3.6 do not tell.
	usualQuota = 2 << 30

	// nearlyFull is the part of it, in percent, from which on something should be done.
	nearlyFull = 75

	// youngHistory is how many revisions a store may have without ever having been compacted: about half as many
	// cycles.
	youngHistory = 5000
)

// checkStore compares the size of a server's store with what it may grow to.
func checkStore(endpoint string, status *clientv3.StatusResponse) driver.Finding {
	quota, told := status.DbSizeQuota, ""
	if quota <= 0 {
		quota, told = usualQuota, ", if it is the default"
	}
	f := driver.Finding{Fact: fmt.Sprintf("the store of %s has %d MiB of its quota of %d MiB%s",
		endpoint, status.DbSize>>20, quota>>20, told)}
	if status.DbSize > quota/100*nearlyFull {
		f.Level = driver.Warning
		f.Advice = "compact its history and run etcdctl defrag, or raise --quota-backend-bytes: " +
			"when the store is full, no lock can be taken"
	}
	return f
}

// checkHistory looks whether the history is ever compacted: each cycle of a lock adds to it, and etcd keeps all of
// it unless told otherwise. How it was told cannot be asked.
func (d *Driver) checkHistory(ctx context.Context) (findings []driver.Finding, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := d.get(ctx, &pb.RangeRequest{Key: []byte(start(d.keys.names())), Revision: 1, CountOnly: true})
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return []driver.Finding{{Fact: "the history is compacted"}}, nil
	case err != nil:
		return findings, mayNotSee(&findings, "keys under the prefix", err)
	case answer.Header.Revision < youngHistory:
		return []driver.Finding{{Fact: "the store is young: whether its history is ever compacted cannot be told"}}, nil
	}
	return []driver.Finding{{
		Level: driver.Warning,
		Fact:  fmt.Sprintf("the history was never compacted; it has %d revisions", answer.Header.Revision),
		Advice: "start etcd with --auto-compaction-retention=1h, or compact it by a job: " +
			"each time a lock is taken and released adds 2 " +
			"revisions and about 700 bytes, and a store that is full takes no locks",
	}}, nil
}
