package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// Check examines the servers, as [driver.Checker] says.
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	var findings []driver.Finding
	for _, endpoint := range d.client.Endpoints() {
		findings = append(findings, d.checkServer(ctx, endpoint)...)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	members, err := d.memberList(ctx)
	if err != nil {
		err = mayNotSee(&findings, "members", err)
		return findings, err
	}
	findings = append(findings, checkSize(len(members.Members)))
	history, err := d.checkHistory(ctx)
	findings = append(findings, history...)
	if err != nil {
		return findings, err
	}
	alarms, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*clientv3.AlarmResponse, error) {
		return m.maintenance.AlarmList(ctx)
	})
	if err != nil {
		err = mayNotSee(&findings, "alarms", err)
		return findings, err
	}
	return append(findings, checkAlarms(alarms)...), nil
}

// patience is how long one question may take: a server without a leader answers some of them never.
const patience = 2 * time.Second

// mayNotSee turns a lack of permission into a finding.
func mayNotSee(findings *[]driver.Finding, what string, err error) error {
	if !errors.Is(err, rpctypes.ErrPermissionDenied) {
		return explain(err)
	}
	*findings = append(*findings, driver.Finding{
		Level: driver.Warning, Fact: "this user may not see the cluster's " + what,
		Advice: "check once as a user with the role root"})
	return nil
}

// checkServer looks at one server: whether it works, and how full it is.
func (d *Driver) checkServer(ctx context.Context, endpoint string) []driver.Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := d.statusOf(ctx, endpoint)
	if err != nil {
		return []driver.Finding{{Level: driver.Warning, Fact: endpoint + " does not answer",
			Advice: "start it, or take it out of the URL; a majority must answer"}}
	}
	return []driver.Finding{checkVersion(endpoint, status), checkStore(endpoint, status)}
}

func (d *Driver) statusOf(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	m, err := d.members.dialOnly(endpoint)
	if err != nil {
		return nil, err
	}
	defer m.close()
	return m.maintenance.Status(ctx, endpoint)
}

// checkVersion looks whether a server has a leader, and a version that keeps its word.
func checkVersion(endpoint string, status *clientv3.StatusResponse) driver.Finding {
	switch {
	case status.Leader == 0:
		return driver.Finding{Level: driver.Unsafe, Fact: endpoint + " knows no leader",
			Advice: "start the others, or let them reach each other: without a majority no lock can be taken, " +
				"and those that are held are lost"}
	case revokesLate(status.Version):
		return driver.Finding{
			Level: driver.Unsafe,
			Fact:  endpoint + " runs etcd " + status.Version,
			Advice: "update to 3.4.31, 3.5.13 or newer: after a pause, a leader that was replaced " +
				"could revoke leases that were kept alive",
		}
	default:
		return driver.Finding{Level: driver.Fine, Fact: endpoint + " runs etcd " + status.Version}
	}
}

// revokesLate reports whether a version has the fault that a leader stuck on its disk later revokes live leases.
func revokesLate(v string) bool {
	var major, minor, patch int
	if n, _ := fmt.Sscanf(v, "%d.%d.%d", &major, &minor, &patch); n < 3 || major != 3 {
		return false
	}
	return minor < 4 || minor == 4 && patch < 31 || minor == 5 && patch < 13
}

func checkSize(members int) driver.Finding {
	f := driver.Finding{Fact: fmt.Sprintf("the cluster has %d members", members)}
	if members < 3 {
		f.Level, f.Advice = driver.Warning, "run 3 or 5: with fewer, the loss of one server stops all locks"
	}
	return f
}

func checkAlarms(alarms *clientv3.AlarmResponse) (findings []driver.Finding) {
	for _, alarm := range alarms.Alarms {
		f := driver.Finding{Level: driver.Unsafe, Fact: "alarm " + alarm.Alarm.String()}
		switch alarm.Alarm {
		case pb.AlarmType_NOSPACE:
			f.Advice = "no lock can be taken: compact and defragment the store, then run etcdctl alarm disarm"
		default:
			f.Advice = "replace the member whose data are damaged, then run etcdctl alarm disarm"
		}
		findings = append(findings, f)
	}
	return findings
}
