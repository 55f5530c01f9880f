module github.com/holdfast-go/holdfast/redislock

go 1.26

require github.com/holdfast-go/holdfast v0.0.0

replace github.com/holdfast-go/holdfast => ..
