// Package examples shows the adapters, and how job queues use Holdfast without one, on real servers and with the real
// libraries.
package examples
