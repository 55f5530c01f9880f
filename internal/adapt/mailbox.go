package adapt

// A Mailbox keeps the newest word about one claim until Wait collects it, so that nothing is missed between the request
// and Wait, or between one Wait and the next; see [Methods]. Putting word in never blocks. If the word is only that
// there is something to look at, T is struct{}.
//
// All methods are safe for concurrent use. If several goroutines wait for the word, one gets it.
type Mailbox[T any] struct{ word chan T }

// NewMailbox returns an empty mailbox.
func NewMailbox[T any]() Mailbox[T] { return Mailbox[T]{make(chan T, 1)} }

// Put leaves word. It replaces an older one that nobody has collected.
func (m Mailbox[T]) Put(word T) {
	for {
		select {
		case m.word <- word:
			return
		default: // an older word is there, unless it is being collected now
			m.Clear()
		}
	}
}

// Word returns the channel from which the word is received.
func (m Mailbox[T]) Word() <-chan T { return m.word }

// Clear discards a word that nobody has collected.
func (m Mailbox[T]) Clear() {
	select {
	case <-m.word:
	default:
	}
}

// IsEmpty reports whether there is nothing to collect.
func (m Mailbox[T]) IsEmpty() bool { return len(m.word) == 0 }
