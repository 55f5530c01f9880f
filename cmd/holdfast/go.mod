module github.com/holdfast-go/holdfast/cmd/holdfast

go 1.26.0

require (
	github.com/holdfast-go/holdfast v0.0.0
	github.com/holdfast-go/holdfast/redislock v0.0.0-00010101000000-000000000000
	github.com/spf13/cobra v1.10.2
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)

replace (
	github.com/holdfast-go/holdfast => ../..
	github.com/holdfast-go/holdfast/redislock => ../../redislock
)
