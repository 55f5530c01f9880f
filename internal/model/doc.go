// Package model walks all states that a small model of a protocol can reach, in tests.
//
// A model is a state, which is any comparable value, and what may happen next: steps, each of which is atomic. What may
// happen at the same time are several steps, so a walk meets every interleaving. It goes breadth first, so the way to
// the first state in which something is wrong is a shortest one. It ends when there is no new state, or with an error
// when there are too many: never because time is up.
//
// What a model proves, it proves of the model. So a model says what it leaves out, and each of its rules is left out or
// bent once, in a row of a table, to see that the walk finds what the rule is for.
package model
