//go:build !race

package soak

const longDay = 1_000_000 // names
