package knownfaults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Each row names a reference, and ranges that are not empty.
func TestTable(t *testing.T) {
	t.Parallel()
	if _, err := time.Parse(time.DateOnly, Checked); err != nil {
		t.Error(err)
	}
	seen := make(map[string]bool)
	for _, f := range table {
		if key := f.Engine + f.Ref; seen[key] {
			t.Errorf("%s is there twice", key)
		} else {
			seen[key] = true
		}
		hasRef := strings.HasPrefix(f.Ref, "https://") || strings.HasPrefix(f.Ref, "CVE-")
		if f.Costs == "" || !hasRef || len(f.In) == 0 {
			t.Errorf("%+v says too little", f)
		}
		for _, r := range f.In {
			for _, version := range []string{r.From, r.Before} {
				if version != plain(version) || version != "" && parse(version) == nil {
					t.Errorf("%s: %q is no version", f.Ref, version)
				}
			}
			if r.Before != "" && compare(parse(r.From), parse(r.Before)) >= 0 {
				t.Errorf("%s: %+v is empty", f.Ref, r)
			}
		}
		if f.mended() == "" && f.Level != driver.Fine {
			t.Errorf("%s: no release is without it, so nothing can be done: it is no warning", f.Ref)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	const revokes, reads = etcdIssue + "15247", etcdIssue + "20418"
	for version, want := range map[string]struct{ all, some []string }{
		"3.3.27": {[]string{revokes, reads}, nil}, "3.4.30": {[]string{revokes, reads}, nil},
		"3.4.31": {[]string{reads}, nil}, "3.5.12-rc.1": {[]string{revokes, reads}, nil},
		"3.5.13": {[]string{reads}, nil}, "3.5.28": {nil, nil}, "3.6.8": {[]string{reads}, nil}, "3.6.9": {nil, nil},
		"3.7.3": {nil, nil}, "v3": {nil, nil}, "": {nil, nil},
		"3.4": {nil, []string{revokes, reads}}, "3.3": {[]string{revokes, reads}, nil}, "3.7": {nil, nil},
	} {
		all, some := Of(Etcd, version)
		for _, ref := range []string{revokes, reads} {
			if has(all, ref) != slices.Contains(want.all, ref) || has(some, ref) != slices.Contains(want.some, ref) {
				t.Errorf("%q has %v, and some of it %v; want %+v", version, all, some, want)
			}
		}
	}
}

func has(list []Fault, ref string) bool {
	return slices.ContainsFunc(list, func(f Fault) bool { return f.Ref == ref })
}

// A fault that matters to some setups only is told to them only.
func TestSetups(t *testing.T) {
	t.Parallel()
	if found := Findings(Redis, "7.2.8"); len(found) == 0 {
		t.Error("Redis 7.2.8 is without fault")
	}
	if alone, cluster := Findings(Redis, "7.2.2"), Findings(Redis, "7.2.2", InCluster); len(alone) >= len(cluster) {
		t.Errorf("%d findings for a server, %d for a cluster", len(alone), len(cluster))
	}
}

// A finding names the version, the fault, its reference and what to do.
func TestFinding(t *testing.T) {
	t.Parallel()
	found := Findings(ZooKeeper, "3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee")
	i := slices.IndexFunc(found, func(f driver.Finding) bool { return f.Level == driver.Unsafe })
	if i < 0 {
		t.Fatalf("got %+v", found)
	}
	for _, want := range []string{"ZooKeeper 3.9.3 has", "held twice", "ZOOKEEPER-4925", Checked} {
		if !strings.Contains(found[i].Fact, want) {
			t.Errorf("%q does not say %q", found[i].Fact, want)
		}
	}
	if found[i].Advice != "upgrade to 3.9.4, or a later one of its line" {
		t.Errorf("the advice is %q", found[i].Advice)
	}
	for _, f := range found {
		if (f.Level == driver.Fine) != (f.Advice == "") {
			t.Errorf("%+v: what is not well needs advice", f)
		}
	}
}
