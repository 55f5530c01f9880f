//go:build !no_sqlite

package main

import _ "modernc.org/sqlite"

func init() { inBuild["no_sqlite"] = true }
