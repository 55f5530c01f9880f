// Package sqltest tests sqllock on real databases, since sqllock itself requires no SQL driver.
package sqltest
