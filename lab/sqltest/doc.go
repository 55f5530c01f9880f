// Package sqltest runs sqllock on real databases. It is here because sqllock itself requires no SQL driver.
package sqltest
