package main

// The backends that this command has, and the database drivers that sqllock uses. Memlock is not among them: its
// locks are for the goroutines of one process.
import (
	"io"
	"log"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/sqllock"
	_ "github.com/holdfast-go/holdfast/zklock"
	_ "modernc.org/sqlite"
)

// schemes are the URL schemes of those backends.
var schemes = []string{"file", "redis", "rediss", "redis+unix", "redis-sentinel", "redis-cluster", "redlock", "etcd",
	"zk", "mysql", "postgres"}

func init() {
	mysql.SetLogger(log.New(io.Discard, "", 0)) // it would write about connections that break, which are opened again
	sqllock.RegisterTLS(mysql.RegisterTLSConfig)
}
