package proof

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// lineFaults are what befalls the lines of one visitor.
var lineFaults = map[string]func(line *proxy.Proxy, ttl time.Duration){
	"black hole":   func(p *proxy.Proxy, _ time.Duration) { p.BlackHole() },
	"lost answers": func(p *proxy.Proxy, _ time.Duration) { p.BlackHoleAnswers() },
	"lost flows":   func(p *proxy.Proxy, _ time.Duration) { p.SwallowOpen() },
	"reset":        func(p *proxy.Proxy, _ time.Duration) { p.Reset() },
	"delay":        func(p *proxy.Proxy, ttl time.Duration) { p.Delay(ttl / 8) },
}
