//go:build race

package soak

// With the race detector most of a day would be spent in clients.
const longDay = 20_000 // names
