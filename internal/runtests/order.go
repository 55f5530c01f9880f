package main

import "slices"

// module is the path before those of all packages.
const module = "github.com/holdfast-go/holdfast/"

// long are the packages whose tests take longest, from the longest on: those that begin last would keep one core busy
// while the others have nothing left to do.
var long = []string{
	"cmd/holdfast",
	"redislock",
	"systemtest/redlock",
	"internal/released",
	"zklock",
	"etcdlock",
	"sqllock/sqltest/postgres",
	"sqllock/sqltest/shedlock",
	"sqllock/sqltest",
	"systemtest/proof",
	"sqllock/sqltest/mariadb",
	"bench",
	"systemtest/faults",
	"lab/experiment",
	"sqllock/sqltest/sessions",
	"redislock/goredis",
	"holdfastvet",
	"internal/servers",
	"quorum",
	"lab/flashsale",
	"sqllock/sqltest/transactions",
}

// longFirst puts the packages that take longest before the others, which stay in their order.
func longFirst(packages []string) []string {
	packages = slices.Clone(packages)
	slices.SortStableFunc(packages, func(a, b string) int { return rank(a) - rank(b) })
	return packages
}

// rank is smaller for what takes longer.
func rank(path string) int {
	i := slices.IndexFunc(long, func(p string) bool { return module+p == path })
	if i < 0 {
		return len(long)
	}
	return i
}
