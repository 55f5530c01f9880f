//go:build !no_zookeeper

package main

import _ "github.com/holdfast-go/holdfast/zklock"

func init() { inBuild["no_zookeeper"] = true }
