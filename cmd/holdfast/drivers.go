package main

// The backends that this command has, and the database drivers that they use.
import (
	_ "github.com/holdfast-go/holdfast/memlock"
	_ "github.com/holdfast-go/holdfast/redislock"
)

// schemes are the URL schemes of those backends.
var schemes = []string{"mem", "redis", "rediss"}
