package redislock

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ForeignID is the ID under which Queue shows a lock that a client of another library holds. Such a claim can be
// neither broken nor released.
const ForeignID = "~foreign"

// queue returns the first n live claims on a lock, oldest first. A lock that another client holds comes ahead of them,
// as a claim with the ID [ForeignID]. A long queue is read a page at a time, and may change in between: a claim that
// joins or leaves meanwhile may be missing, and no claim is there twice.
func (d *native) queue(ctx context.Context, name string, n int) ([]driver.Entry, error) {
	k, err := d.keys.of(name)
	if err != nil {
		return nil, err
	}
	var queue []driver.Entry
	for from := queueStart; ; {
		values, err := d.scripts.queue.run(ctx, d.conn, k.all(), []string{from, strconv.Itoa(min(n, queuePage))})
		if err != nil {
			return nil, err
		}
		page, err := parsePage(values)
		if err != nil {
			return nil, err
		}
		entries, err := page.entries(name)
		if err != nil {
			return nil, err
		}
		if from != queueStart && len(entries) > 0 && entries[0].ID == ForeignID {
			entries = entries[1:] // the first page said so, or it came since
		}
		queue = append(queue, entries...)
		if from = page.next; from == "" || len(queue) >= n {
			return queue[:min(n, len(queue))], nil
		}
	}
}

// How a queue is read: from where, and how many claims in one step of the server.
const (
	queueStart = "-inf"
	queuePage  = 500
)

// A page is one answer of queue.lua: some claims of a queue, as they were at one instant of the server's clock.
type page struct {
	now     int64    // ms since 1970
	foreign string   // what another client's key holds, or ""
	left    string   // for how many ms that key lives, or "0"
	next    string   // where the next page begins, or ""
	claims  []string // the ID and the record of each
}

// parsePage reads an answer of queue.lua.
func parsePage(values []string) (page, error) {
	if len(values) < 4 {
		return page{}, errNotUnderstood
	}
	now, err := strconv.ParseInt(values[0], 10, 64)
	return page{now: now, foreign: values[1], left: values[2], next: values[3], claims: values[4:]}, err
}

// entries reads the claims of a page. A lock that another client holds comes ahead of them.
func (p page) entries(name string) (entries []driver.Entry, err error) {
	if p.foreign != "" {
		entries = append(entries, foreignEntry(name, p.foreign, p.left))
	}
	for pair := p.claims; len(pair) >= 2; pair = pair[2:] {
		e, err := parseEntry(name, pair[0], pair[1], p.now)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// errForeign is the error for breaking or revoking a claim with ForeignID.
var errForeign = fmt.Errorf("a client of another library has the lock, and cannot be asked to release it; "+
	"ask its owner, or delete its key: %w", errors.ErrUnsupported)

// foreignEntry shows a lock that a client of another library holds as a claim. The content of its key is what unlocks
// it there, so it is the value of the claim, and no part of the owner, which everybody shows and logs.
func foreignEntry(name, value, left string) driver.Entry {
	ms, _ := strconv.ParseInt(left, 10, 64)
	return driver.Entry{
		Claim: driver.Claim{
			Name: name, ID: ForeignID, Weight: driver.All, Limit: driver.All,
			Owner: "another client", Value: value,
		},
		Granted: true,
		Left:    time.Duration(ms) * time.Millisecond,
	}
}

// scanPage is how many keys one step of a scan looks at.
const scanPage = 1000

// List yields the names of locks that start with prefix and have claims, as [driver.Lister] says. It asks about each
// name once, so it remembers those, and nothing of the locks that rest, which may be millions. In a cluster it goes
// through one server after the other, and may miss a lock whose slot moves meanwhile.
func (d *native) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		primaries, err := d.conn.Primaries(ctx)
		if err != nil {
			yield("", explain(err))
			return
		}
		asked := make(map[string]bool)
		for _, server := range primaries {
			if !d.listAt(ctx, server, prefix, asked, yield) {
				return
			}
		}
	}
}

// listAt is List for one server. It reports whether to go on. asked has the locks that were asked about.
func (d *native) listAt(
	ctx context.Context, server Conn, prefix string, asked map[string]bool, yield func(string, error) bool,
) bool {
	for cursor := "0"; ; {
		next, found, err := server.Scan(ctx, cursor, d.keys.pattern(prefix), scanPage)
		if err != nil {
			yield("", explain(err))
			return false
		}
		var names []string
		for _, key := range d.restless(ctx, found) {
			if name, ok := d.keys.nameOf(key); ok && !asked[name] {
				names, asked[name] = append(names, name), true
			}
		}
		if !d.listBusy(ctx, names, yield) {
			return false
		}
		if cursor = next; cursor == "0" {
			return true
		}
	}
}

// restless returns, of keys that a scan has found, those of locks that may have claims: the lock, which somebody has,
// or the claims, unless their state says that there are none. The scan may have passed the place of the one before it
// was there, so each is enough. Most locks of an old store have no claims, and reading a state costs the server much
// less than a script. What cannot be read is for the script to judge.
func (d *native) restless(ctx context.Context, found []string) (keys []string) {
	var cmds []Command
	for _, key := range found {
		switch {
		case strings.HasSuffix(key, claimsSuffix):
			cmds = append(cmds, Command{Head: []string{"HGET"}, Keys: []string{key}, Tail: []string{stateField}})
		case strings.HasSuffix(key, "}"):
			keys = append(keys, key)
		}
	}
	if len(cmds) == 0 {
		return keys
	}
	for i, r := range d.conn.DoMany(ctx, cmds) {
		if r.Err != nil || len(r.Values) > 0 && !isIdle(r.Values[0]) {
			keys = append(keys, cmds[i].Keys[0])
		}
	}
	return keys
}

// listBusy yields those names that have claims, and reports whether to go on.
func (d *native) listBusy(ctx context.Context, names []string, yield func(string, error) bool) bool {
	if len(names) == 0 {
		return true
	}
	cmds := make([]Command, len(names))
	for i, name := range names {
		k, _ := d.keys.of(name) // it was one when the claims were stored
		cmds[i] = Command{Head: d.scripts.queue.head, Keys: k.all(), Tail: []string{queueStart, "1"}}
	}
	for i, r := range d.scripts.queue.runMany(ctx, d.conn, cmds) {
		name := names[i]
		busy, err := d.isBusy(ctx, name, r)
		switch {
		case err != nil:
			yield("", err)
			return false
		case busy && !yield(name, nil):
			return false
		}
	}
	return true
}

// isBusy reports whether a lock has claims. The answer tells of the first claim; if that one is dead there may be
// others. A lock that the server refuses to read counts as busy, so that it hides no other lock.
func (d *native) isBusy(ctx context.Context, name string, first Reply) (bool, error) {
	if first.Err != nil {
		return unlessRefused(first.Err)
	}
	page, err := parsePage(first.Values)
	if err != nil || len(page.claims) > 0 || page.next == "" {
		return len(page.claims) > 0, err
	}
	queue, err := d.queue(ctx, name, driver.All)
	if err != nil {
		return unlessRefused(err)
	}
	return len(queue) > 0 && queue[len(queue)-1].ID != ForeignID, nil
}

// unlessRefused is what an error says of whether a lock has claims.
func unlessRefused(err error) (busy bool, _ error) {
	if errors.Is(err, driver.ErrRefused) {
		return true, nil
	}
	return false, err
}
