package redislock_test

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/redislock"
)

// A program that has a client of rueidis locks through it. The client stays the program's own to close.
func ExampleNew() {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"localhost:6379"}, DisableRetry: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	d, err := redislock.New(client, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Traits().Backend) // and on with holdfast.New(d)
}

// With no prefix the name of a lock is its key, so other clients' locks and ours exclude each other.
func ExampleOptions_noPrefix() {
	// With a URL the same is redis://localhost:6379?prefix=
	d, err := driver.Open(context.Background(), "redis://localhost:6379?prefix=")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
}

// Processes in Python lock the same name with python-redis-lock.
func ExampleOptions_layout() {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"localhost:6379"}, DisableRetry: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	d, err := redislock.New(client, &redislock.Options{Layout: redislock.PythonRedisLock})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	locks := holdfast.New(d)
	defer locks.Close(context.Background())
}
