//go:build !no_etcd

package main

import _ "github.com/holdfast-go/holdfast/etcdlock"

func init() { inBuild["no_etcd"] = true }
