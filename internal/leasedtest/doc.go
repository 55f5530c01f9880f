// Package leasedtest is what the tests of drivers have in common whose engine leases by session: what tests do with a
// driver, and the tests that are the same for each engine, which an [Engine] tells apart.
package leasedtest
