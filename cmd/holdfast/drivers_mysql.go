//go:build !no_mysql

package main

import (
	"io"
	"log"

	"github.com/go-sql-driver/mysql"

	"github.com/holdfast-go/holdfast/sqllock"
)

func init() {
	inBuild["no_mysql"] = true
	mysql.SetLogger(log.New(io.Discard, "", 0)) // it would write about connections that break, which are opened again
	sqllock.RegisterTLS(mysql.RegisterTLSConfig)
}
