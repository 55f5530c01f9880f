package main

import "slices"

// module is the path before those of all packages.
const module = "github.com/holdfast-go/holdfast/"

// longest are the packages whose tests take longest, from the longest on: those that begin last would keep one core
// busy while the others have nothing left to do.
var longest = []string{
	"cmd/holdfast",
	"sqllock/sqltest/postgres",
	"zklock",
	"etcdlock",
	"internal/released",
	"sqllock/sqltest/mariadb",
	"sqllock/sqltest/shedlock",
	"redislock",
	"systemtest/redlock",
	"systemtest/proof",
	"systemtest/faults",
	"quorum",
	"sqllock/sqltest",
	"sqllock/sqltest/sessions",
	"sqllock/sqltest/transactions",
	"internal/servers",
	"systemtest/engines",
	"holdfastvet",
	"bench",
	"lab/experiment",
	"redislock/goredis",
	"lab/flashsale",
}

// longFirst puts the packages that take longest before the others, which stay in their order.
func longFirst(packages []tested) []tested {
	packages = slices.Clone(packages)
	slices.SortStableFunc(packages, func(a, b tested) int { return rank(a.path) - rank(b.path) })
	return packages
}

// rank is smaller for what takes longer.
func rank(path string) int {
	i := slices.IndexFunc(longest, func(p string) bool { return module+p == path })
	if i < 0 {
		return len(longest)
	}
	return i
}
