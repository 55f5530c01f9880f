// Package sqltest tests sqllock on real databases, because sqllock itself requires no SQL driver.
package sqltest
