package shedlock

import "errors"

// errLate says that the lock was taken for a claim and the request took so long that it has ended
// since, or is about to.
var errLate = errors.New("the database took so long that the claim has ended meanwhile; it can be requested again")
