package examples

import (
	"context"
	"database/sql"
	"log"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/etcdlock" // etcd://
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/redislock" // redis://
)

// The servers of the examples.
var redis, postgres, etcd *servers.Server

func TestMain(m *testing.M) {
	servers.Main(m, func(t testing.TB) {
		redis, postgres, etcd = servers.Redis(t), servers.Postgres(t), servers.Etcd(t)
	})
}

// open returns a client of the backend at this URL.
func open(url string, opts ...holdfast.Option) *holdfast.Client {
	client, err := holdfast.Open(context.Background(), url, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func onRedis(opts ...holdfast.Option) *holdfast.Client { return open("redis://"+redis.Addr, opts...) }

func postgresURL() string {
	return "postgres://postgres@" + postgres.Addr + "/postgres?sslmode=disable"
}

func database() *sql.DB {
	db, err := sql.Open("pgx", postgresURL())
	if err != nil {
		log.Fatal(err)
	}
	return db
}
