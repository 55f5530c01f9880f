//go:build !no_postgres

package main

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func init() {
	inBuild["no_postgres"] = true
	couldNotConnect = append(couldNotConnect, func(err error) bool {
		_, ok := errors.AsType[*pgconn.ConnectError](err)
		return ok
	})
}
