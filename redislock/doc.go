package redislock
