// Package transactions tests what happens within transactions of the caller: locks that are transactions, and fences.
package transactions
