// Package sessiontest tests locks of database sessions as leases.
package sessiontest
