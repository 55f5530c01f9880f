package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
)

// Check examines the servers, as [driver.Checker] says.
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	findings, isCluster := d.checkServers(ctx)
	if !isCluster {
		return findings, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	members, err := d.memberList(ctx)
	if err != nil {
		err = mayNotSee(&findings, "members", err)
		return findings, err
	}
	findings = append(findings, checkSize(members.Members))
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

// checkServers looks at each server by itself. isCluster says that there is a cluster to ask about.
func (d *Driver) checkServers(ctx context.Context) (findings []driver.Finding, isCluster bool) {
	var versions []string
	for _, endpoint := range d.client.Endpoints() {
		found, version := d.checkServer(ctx, endpoint)
		findings = append(findings, found...)
		if version != "" && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	for _, version := range versions {
		findings = append(findings, knownfaults.Findings(knownfaults.Etcd, version)...)
	}
	isForeign := func(f driver.Finding) bool { return strings.HasSuffix(f.Fact, notMember) }
	return findings, len(versions) > 0 || !slices.ContainsFunc(findings, isForeign)
}

// notMember is the fact about a server that is not etcd.
const notMember = " is not etcd: it is no member of a cluster"

// checkServer looks at one server: whether it works, and how full it is. version is what it runs, if that is etcd.
func (d *Driver) checkServer(ctx context.Context, endpoint string) (findings []driver.Finding, version string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := d.statusOf(ctx, endpoint)
	if err != nil {
		return []driver.Finding{withoutStatus(endpoint, explain(err))}, ""
	}
	if status.Header.GetMemberId() == 0 {
		return []driver.Finding{{Level: driver.Unsafe, Fact: endpoint + notMember,
			Advice: "name servers of etcd itself: those with a part of its API, such as kine, cannot keep locks"}}, ""
	}
	findings = []driver.Finding{checkMember(endpoint, status), checkStore(endpoint, status)}
	if d.leadsToSeveral(ctx, endpoint, status.Header.MemberId) {
		findings = append(findings, driver.Finding{Level: driver.Warning, Fact: endpoint + " leads to several members",
			Advice: "name the members themselves: behind one address for all, one that hangs holds up its callers"})
	}
	return findings, status.Version
}

// proxyTries is how often an address is asked which member is there. A proxy may pass several questions to the same.
const proxyTries = 4

// leadsToSeveral reports whether another member answers at an address, as behind a balancer or etcd's gRPC proxy.
func (d *Driver) leadsToSeveral(ctx context.Context, endpoint string, member uint64) bool {
	for range proxyTries {
		status, err := d.statusOf(ctx, endpoint)
		if err == nil && status.Header.GetMemberId() != member {
			return true
		}
	}
	return false
}

// withoutStatus is about a server that did not tell its state.
func withoutStatus(endpoint string, err error) driver.Finding {
	f := driver.Finding{Level: driver.Warning, Fact: endpoint + " does not answer",
		Advice: "start it, or take it out of the URL; a majority must answer"}
	var answer *driver.ServerError
	var reason *unreachable
	switch {
	case errors.As(err, &answer):
		f.Fact, f.Advice = endpoint+" does not tell its state: "+err.Error(), "ask it as a user who may see that"
	case errors.As(err, &reason):
		f.Fact += ": " + err.Error()
	}
	return f
}

func (d *Driver) statusOf(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	m, err := d.members.dialOnly(endpoint)
	if err != nil {
		return nil, err
	}
	defer m.close()
	return m.maintenance.Status(ctx, endpoint)
}

// checkMember looks whether a server can serve locks.
func checkMember(endpoint string, status *clientv3.StatusResponse) driver.Finding {
	switch {
	case status.IsLearner:
		return driver.Finding{Level: driver.Warning, Fact: endpoint + " is a learner", Advice: ofLearner}
	case status.Leader == 0:
		return driver.Finding{Level: driver.Unsafe, Fact: endpoint + " knows no leader",
			Advice: "start the others, or let them reach each other: without a majority no lock can be taken, " +
				"and those that are held are lost"}
	default:
		return driver.Finding{Fact: endpoint + " runs etcd " + status.Version}
	}
}

// checkSize counts the members. A gRPC proxy lists itself in their place, as a member without a number.
func checkSize(members []*pb.Member) driver.Finding {
	if slices.ContainsFunc(members, func(m *pb.Member) bool { return m.ID == 0 }) {
		return driver.Finding{
			Level: driver.Warning, Fact: "a proxy answers in the cluster's place, and does not list the members",
			Advice: "name the members themselves: behind a proxy, one that hangs holds up its callers",
		}
	}
	f := driver.Finding{Fact: fmt.Sprintf("the cluster has %d members", len(members))}
	if len(members) < 3 {
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
