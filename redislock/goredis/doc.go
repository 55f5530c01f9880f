// Package goredis opens a redislock driver on a client of github.com/redis/go-redis/v9 that the program already has.
//
//	d, err := goredis.New(client, nil)
//	locks := holdfast.New(d)
//
// Programs without one open redis:// URLs with package redislock, which batches the commands of many goroutines.
package goredis
