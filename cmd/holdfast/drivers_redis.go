//go:build !no_redis

package main

import "github.com/holdfast-go/holdfast/redislock"

func init() {
	inBuild["no_redis"] = true
	foreignID = redislock.ForeignID
}
