package leased

// IsClosed reports whether a channel is closed that nothing is ever sent on.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
