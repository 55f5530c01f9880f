// Package style has tests only: they hold our source to what a formatter does not look at.
package style
