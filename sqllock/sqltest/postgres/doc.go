// Package postgres tests claims on PostgreSQL.
package postgres
