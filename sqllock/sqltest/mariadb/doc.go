// Package mariadb tests claims on MariaDB.
package mariadb
