module github.com/holdfast-go/holdfast/quorum/quorumtest

go 1.26.0

require (
	github.com/holdfast-go/holdfast v0.0.0
	github.com/holdfast-go/holdfast/redislock v0.0.0
)

require (
	github.com/redis/rueidis v1.0.79 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
