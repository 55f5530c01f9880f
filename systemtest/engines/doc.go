// Package engines tests what all engines do alike, on a server of each.
package engines
