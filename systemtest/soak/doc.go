// Package soak ages stores: a day of their lives in minutes, with what happens to a server in use, and then the whole
// contract on what is left. Size and speed are printed beside those of a fresh store.
//
//	go test ./systemtest/soak -v -soak.names 1000000 -soak.json results.json
//
// A usual run is a day of a few hundred names, without the contract.
package soak
