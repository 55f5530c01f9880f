// Package redislock keeps the queues of locks on Redis, 7.0 or newer, or on Valkey: on one server, on the master that
// sentinels name, or in a cluster. Importing it registers the URL schemes:
//
//	redis://user:password@localhost:6379/0?prefix=holdfast:
//	rediss://host                                              with TLS
//	redis+unix:///run/redis/redis.sock                         by a Unix socket
//	redis-sentinel://sentinel1,sentinel2,sentinel3/mymaster
//	redis-cluster://host1,host2
//
// docs/redis.md has their parameters.
//
// Each lock is a queue of claims that Lua scripts change atomically, by the server's clock. Acquiring a free lock takes
// one request, releasing it another; A release grants the next claim in line in the same step, and tells its client
// through a channel. Each client listens to one, on a connection of its own. If one server is known to keep all keys,
// requests of several goroutines at about the same time go as one script.
//
// What the driver promises holds as long as the server keeps its word: a restart without persistence, a failover to a
// replica that lacks the last writes, eviction, or a step of the server's clock may end a claim early. Tokens are
// max(last+1, the server's time in µs), so they keep growing even then, unless the clock was also set back.
//
// # Keys
//
// For a lock named "jobs/7" and the prefix "holdfast:" they are
//
//	holdfast:{jobs%2F7}          while a claim is granted: its ID; or ~shared, where several may be granted
//	holdfast:{jobs%2F7}:claims   a hash: the state of the queue, claims, and for a while how claims ended
//	holdfast:{jobs%2F7}:order    the queue by token, while there is one
//	holdfast:{jobs%2F7}:expiry   the queue by deadline, while there is one
//
// The first is a lock in the form that many clients share, SET key value PX milliseconds, so their locks and ours
// exclude each other: any other value in that key counts as a claim ahead of all others. To share their keys, choose no
// prefix: the first key is then the bare name. Every key expires by itself.
package redislock
