// Package quorumtest tests package quorum on several independent Redis servers.
package quorumtest
