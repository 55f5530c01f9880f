//go:build tools

// Package etcdbuild pins the etcd server and etcdctl that tests build and run. It is a module of its own, outside the
// workspace, so that nothing else depends on them: they cannot be installed with go install, since their go.mod has
// replace directives.
package etcdbuild

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
