package goredis_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/redislock/goredis"
)

// A program that has a client of go-redis locks through it.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	d, err := goredis.New(client, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Traits().Backend) // and on with holdfast.New(d)
	// Output: redis
}
