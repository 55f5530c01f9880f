// Package redlock tests package quorum over several independent Redis servers.
package redlock
