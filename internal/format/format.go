// Package format has the versions of what drivers store. They are variables so that a test can play a program of
// another version; nothing else changes them.
package format

// SQLite is the version of sqllock's tables in SQLite, kept in PRAGMA user_version.
var SQLite = 1
