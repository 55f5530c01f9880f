package driver

// A Mailbox keeps the newest word about one claim until Wait collects it, so that nothing is missed between the
// request and Wait, nor between one Wait and the next; see [Waiter]. Whoever brings word never blocks. Where the word
// is only that there is something to look at, T is struct{}.
//
// All methods are safe for concurrent use. Of several goroutines that collect, one gets the word.
type Mailbox[T any] struct{ word chan T }

// NewMailbox returns an empty mailbox.
func NewMailbox[T any]() Mailbox[T] { return Mailbox[T]{make(chan T, 1)} }

// Put leaves word, in place of an older one that nobody has collected.
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

// Word brings the word to who collects it.
func (m Mailbox[T]) Word() <-chan T { return m.word }

// Clear throws away what nobody has collected, because it is known by now.
func (m Mailbox[T]) Clear() {
	select {
	case <-m.word:
	default:
	}
}

// IsEmpty reports whether there is nothing to collect.
func (m Mailbox[T]) IsEmpty() bool { return len(m.word) == 0 }
