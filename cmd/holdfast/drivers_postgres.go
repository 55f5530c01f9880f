//go:build !no_postgres

package main

import _ "github.com/jackc/pgx/v5/stdlib"

func init() { inBuild["no_postgres"] = true }
