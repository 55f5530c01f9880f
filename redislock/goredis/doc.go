package goredis
