package main

import "slices"

// module is the path before those of all packages.
const module = "github.com/holdfast-go/holdfast/"

// longest are the packages whose tests take longest, from the longest on: those that begin last would keep one core
// busy while the others have nothing left to do.
var longest = []string{
	"sqllock/sqltest/postgres",
	"sqllock/sqltest/mariadb",
	"cmd/holdfast",
	"internal/released",
	"redislock",
	"zklock",
	"etcdlock",
	"systemtest/faults",
	"sqllock/sqltest/shedlock",
	"systemtest/redlock",
	"systemtest/proof",
	"systemtest/engines",
	"sqllock/sqltest/transactions",
	"sqllock/sqltest/sessions",
	"sqllock/sqltest",
	"internal/servers",
	"holdfastvet",
	"bench",
	"lab/experiment",
	"redislock/goredis",
	"mutants",
	"systemtest/scale",
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
