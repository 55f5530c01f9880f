package driver

import "os"

// An Inheriter has claims that live only while some process keeps certain files open.
type Inheriter interface {
	// Inherit returns the files that a child process must keep open so that the claims live as long as the child, even
	// if this process is killed.
	Inherit() []*os.File
}

// Inherit returns the files as [Inheriter] says; none where d is no Inheriter.
func Inherit(d Driver) []*os.File {
	if i, ok := As[Inheriter](d); ok {
		return i.Inherit()
	}
	return nil
}
