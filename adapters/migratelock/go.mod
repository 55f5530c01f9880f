module github.com/holdfast-go/holdfast/adapters/migratelock

go 1.26.0

require (
	github.com/golang-migrate/migrate/v4 v4.20.1
	github.com/holdfast-go/holdfast v0.0.0
)
