// Package scale tests Holdfast with many locks at once.
package scale
