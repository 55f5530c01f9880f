// Package peers tests that our locks and those of other libraries exclude each other on one server.
package peers
