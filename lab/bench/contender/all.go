package contender

// Limit is what no lock on the engine can be faster than.
func Limit() Contender { return Raw() }

// Rivals are the libraries that Holdfast is compared with.
func Rivals() []Contender { return []Contender{Redsync(), Redislock(), Rueidislock()} }

// All returns everybody who is measured: the limit, Holdfast, and its rivals.
func All() []Contender { return append([]Contender{Limit(), Holdfast()}, Rivals()...) }
