// Package sessions tests locks of database sessions as leases.
package sessions
