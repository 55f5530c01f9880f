package quorum

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes what was read of a URL as another URL, which names everything. That must open the same quorum in the
// same way, and the URL of each node must be one that can be opened, with the same host.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"redlock://h1,h2,h3", "redlock://u:p%40%2F@h1:1,h2,[fe80::1%25eth0]/3?tls=true&prefix=a%26b", "redlock://h1,h2",
		"redlock://h1,h2,H1", "redlock://h,h:6379,h2",
		"redlock://a,b,c,d,e?maxttl=1m&timeout=1s&unsafefresh=true&keep=2m",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		opts, nodes, ok := readURL(raw)
		if !ok {
			return
		}
		for _, node := range nodes {
			again, err := driver.ParseURL(node.String())
			if err != nil || again.Host != node.Host || again.Path != node.Path || again.RawQuery != node.RawQuery ||
				again.User.String() != node.User.String() {
				t.Errorf("%q has the node %q, which is opened as %+v, %v", raw, node, again, err)
			}
		}
		written := writeURL(opts, nodes)
		optsAgain, nodesAgain, ok := readURL(written)
		if !ok || !reflect.DeepEqual(opts, optsAgain) || fmt.Sprint(nodes) != fmt.Sprint(nodesAgain) {
			t.Errorf("%q is %+v %s; written as %q it is %+v %s", raw, opts, nodes, written, optsAgain, nodesAgain)
		}
	})
}

func readURL(raw string) (opts *Options, nodes []*url.URL, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Scheme != "redlock" {
		return nil, nil, false
	}
	opts, nodes, err = parse(u)
	return opts, nodes, err == nil
}

func writeURL(opts *Options, nodes []*url.URL) string {
	u := *nodes[0]
	q := u.Query()
	q.Set(maxTTLParam, opts.MaxTTL.String())
	q.Set(timeoutParam, opts.Timeout.String())
	q.Set(freshParam, strconv.FormatBool(opts.UnsafeFresh))
	q.Set(tlsParam, strconv.FormatBool(u.Scheme == "rediss"))
	hosts := make([]string, len(nodes))
	for i, node := range nodes {
		hosts[i] = node.Host
	}
	u.Scheme, u.Host, u.RawQuery = "redlock", strings.Join(hosts, ","), q.Encode()
	return u.String()
}
