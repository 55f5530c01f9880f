// Package layers has tests only: they state who may import whom, and what modules may require.
package layers
