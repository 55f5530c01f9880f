package dbms

import "strings"

// StrictMode is a query for a setting of Percona XtraDB Cluster. Other servers do not know it.
const StrictMode = "SELECT @@GLOBAL.pxc_strict_mode"

// ForbidsLocks reports whether a cluster with this setting lets nobody use GET_LOCK, which its nodes do not share.
func ForbidsLocks(strictMode string) bool { return strictMode == "ENFORCING" || strictMode == "MASTER" }

// LocksForbidden reports whether an error is what GET_LOCK returns there. Its number is that of errors without one.
func LocksForbidden(err error) bool {
	return Code(err) == "1105" && strings.Contains(err.Error(), "pxc_strict_mode")
}
