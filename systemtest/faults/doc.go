// Package faults tests what Holdfast promises when processes are paused and killed, and connections cut, with real
// servers and real processes.
package faults
