package sqllock

import "sync"

// A turn holds one token, and whoever took it may write. The clients of one process take turns by it, in order and at
// once, where SQLite would have them look again and again whether the file is free.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t.next()
	return t
}

// next lets the next one have it.
func (t turn) next() { t <- struct{}{} }

// turns are those of the databases that this process has opened, by path.
var turns sync.Map

func turnAt(path string) turn {
	t, _ := turns.LoadOrStore(path, newTurn())
	return t.(turn)
}
