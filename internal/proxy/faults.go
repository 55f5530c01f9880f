package proxy

import (
	"bytes"
	"slices"
	"time"
)

// faults are what happens to bytes.
type faults struct {
	hole  [2]bool       // by way: bytes vanish
	delay time.Duration // each chunk, each way
	traps []trap
}

// A trap waits for one request, and does something to it once.
type trap struct {
	match  []byte
	spring func(l *link, chunk []byte) verdict // called under the proxy's mutex
}

// BlackHole makes all bytes vanish until Heal, both ways, and the ends of connections too: neither side learns of the
// other. New connections are accepted.
func (p *Proxy) BlackHole() { p.dig(toServer, toClient) }

// SwallowOpen makes all bytes vanish on the connections that are open now, both ways, and their ends too, as when a
// firewall forgets them. Neither side learns of it. New connections work. It lasts until Heal, which breaks those
// off.
func (p *Proxy) SwallowOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.dead = true
	}
}

// BlackHoleAnswers makes what the server sends vanish until Heal: requests are applied.
func (p *Proxy) BlackHoleAnswers() { p.dig(toClient) }

func (p *Proxy) dig(ways ...way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range ways {
		p.faults.hole[w] = true
	}
}

// A Reaction is what the proxy does with a chunk that a client sent.
type Reaction struct {
	Pass   []byte // to the server; none for nothing
	Answer []byte // to the client, as if the server had said it
	Cut    bool   // the connection, after that
}

// React decides by f about all that clients send from now on, chunk by chunk: so a proxy passes for a server that
// understands or answers a request in another way. nil ends it.
func (p *Proxy) React(f func(chunk []byte) Reaction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.react = f
}

func (p *Proxy) reaction(chunk []byte) Reaction {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.react == nil {
		return Reaction{Pass: chunk}
	}
	return p.react(chunk)
}

// Delay makes each chunk of bytes arrive so much later, each way, in order. More chunks may be on their way meanwhile.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults.delay = d
}

// Heal ends all faults, and those that still wait for their request. A request that is held stays so until it is
// delivered. After a black hole all connections are broken off, as their streams have gaps.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if l.dead || p.faults.hole != [2]bool{} {
			l.reset()
		}
	}
	p.faults = faults{}
}

// Reset breaks all connections off, as a firewall would: both sides get a TCP reset. Requests that are held are lost.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reset()
}

// Lead breaks all connections off, and leads to another server from now on, as a name does that was given to it.
func (p *Proxy) Lead(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
	p.reset()
}

func (p *Proxy) reset() {
	for l := range p.links {
		l.reset()
	}
}

// DropNextReplyAfter lets the next request that contains these bytes reach the server, and closes its connection when
// the answer comes, which the client never sees.
func (p *Proxy) DropNextReplyAfter(match []byte) {
	p.lay(match, func(l *link, _ []byte) verdict {
		l.answers = cut
		return pass
	})
}

// HangNextReplyAfter is DropNextReplyAfter with a connection that stays open, and on which no answer ever comes again.
func (p *Proxy) HangNextReplyAfter(match []byte) {
	p.lay(match, func(l *link, _ []byte) verdict {
		l.answers = vanish
		return pass
	})
}

// DesertNextReplyAfter lets the next request that contains these bytes reach the server, and breaks off its client
// when the answer comes. The server learns nothing of that: its connection stays open.
func (p *Proxy) DesertNextReplyAfter(match []byte) {
	p.lay(match, func(l *link, _ []byte) verdict {
		l.answers = desert
		return pass
	})
}

// lay lays a trap for the next request with these bytes.
func (p *Proxy) lay(match []byte, spring func(*link, []byte) verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults.traps = append(p.faults.traps, trap{slices.Clone(match), spring})
}

// sprung takes out the first trap whose bytes end in the chunk; they may have begun in what came recently.
func (f *faults) sprung(recent, chunk []byte) (trap, bool) {
	for i, t := range f.traps {
		begun := recent[max(0, len(recent)-len(t.match)+1):]
		if bytes.Contains(slices.Concat(begun, chunk), t.match) {
			f.traps = slices.Delete(f.traps, i, i+1)
			return t, true
		}
	}
	return trap{}, false
}
