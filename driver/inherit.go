package driver

import "os"

// An Inheriter has claims that live only while some process keeps certain files open.
type Inheriter interface {
	// Inherit returns the files that a child process must keep open so that the claims live for as long as it does,
	// even when this process is killed.
	Inherit() []*os.File
}

// Inherit returns the files as [Inheriter] says; none where d is no Inheriter.
func Inherit(d Driver) []*os.File {
	if i, ok := As[Inheriter](d); ok {
		return i.Inherit()
	}
	return nil
}
