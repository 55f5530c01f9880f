package sqllock

import (
	"hash/crc32"
	"strconv"
	"strings"
)

// GolangMigrateKey returns the name, for [RawLayout], of the lock that golang-migrate holds while it migrates. On
// PostgreSQL, give also the schema and its table, as in GolangMigrateKey("app", "public", "schema_migrations"). On
// MySQL, the name of the table follows that of the database and a colon: GolangMigrateKey("app:schema_migrations").
func GolangMigrateKey(database string, more ...string) string {
	const salt = 1486364155
	sum := crc32.ChecksumIEEE([]byte(strings.Join(append(more[:len(more):len(more)], database), "\x00")))
	return strconv.FormatUint(uint64(sum*salt), 10)
}

// RailsMigrateKey returns the name, for [RawLayout], of the lock that Rails holds while it migrates a database, on
// PostgreSQL and on MySQL.
func RailsMigrateKey(database string) string {
	const salt = 2053462845
	return strconv.FormatUint(salt*uint64(crc32.ChecksumIEEE([]byte(database))), 10)
}
