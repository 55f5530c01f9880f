// Package layers has one test, which states who may import whom.
package layers
