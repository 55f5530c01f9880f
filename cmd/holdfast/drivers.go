package main

// The backends that this command has, and the database driver for files.
import (
	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/memlock"
	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "github.com/holdfast-go/holdfast/zklock"
	_ "modernc.org/sqlite"
)

// schemes are the URL schemes of those backends.
var schemes = []string{"mem", "file", "redis", "rediss", "etcd", "zk"}
