package redislock

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync"
)

// A script runs on the server by its hash, so that its text travels once.
type script struct {
	text string
	head []string // of the command that runs it
	full []string // of the command that brings its text along
}

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	keys := strconv.Itoa(keysOfLock)
	return script{
		text: text,
		head: []string{"EVALSHA", hex.EncodeToString(sum[:]), keys},
		full: []string{"EVAL", text, keys},
	}
}

// on returns the script for another number of keys.
func (s script) on(keys int) script {
	count := strconv.Itoa(keys)
	return script{s.text, []string{s.head[0], s.head[1], count}, []string{s.full[0], s.full[1], count}}
}

// scripts are what the driver asks of the server.
type scripts struct {
	request, renew, release, queue, cancel, revoke, watch, propose, batch, batchKeep, setValue, value script
}

// budget is how many claims one run of a script ends, grants or corrects at most: the server does nothing else
// meanwhile, which is about a millisecond.
const budget = 100

// wording is what the texts of scripts depend on.
type wording struct {
	retention
	channels string
}

// keyOrFalse is how scripts name a key that some drivers do not have.
func keyOrFalse(key string) string {
	if key == "" {
		return "false"
	}
	return quote(key)
}

// margin is by how many µs the expiry of claims that are kept for longer is due sooner: a script that keeps them for
// less puts it off by no more.
func (w wording) margin() int64 {
	if w.usual == w.apart {
		return 0
	}
	return w.usual.Microseconds() / 2
}

// recent has the scripts that were made last. Drivers with the same options, like those of a quorum, share them: to
// make them takes milliseconds.
var recent struct {
	mu      sync.Mutex
	of      wording
	scripts scripts
}

// loadScripts makes the scripts of a driver, or takes those that were made last.
func loadScripts(opts Options, keep retention) scripts {
	of := wording{keep, opts.channelPrefix()}
	recent.mu.Lock()
	defer recent.mu.Unlock()
	if recent.of != of {
		recent.of, recent.scripts = of, makeScripts(of)
	}
	return recent.scripts
}

// makeScripts puts the constants of a driver into the scripts. Only those that add a claim are refused when the
// server's memory is full: to renew and to give back must always work.
func makeScripts(of wording) scripts {
	words := of.constants()
	load := func(name, flags string) script {
		text := words.Replace(source(name))
		return newScript("#!lua" + flags + "\nlocal budget = " + strconv.Itoa(budget) + "\n" + text)
	}
	const always = " flags=allow-oom"
	return scripts{
		request: load("request.lua", ""),
		renew:   load("request.lua", always),
		release: load("release.lua", always),
		queue:   load("queue.lua", always),
		cancel:  load("break.lua", always),
		revoke:  load("revoke.lua", always),
		watch:   load("watch.lua", always),
		propose: load("propose.lua", ""),
		batch:   load("batch.lua", ""),

		batchKeep: load("batch.lua", always), // adds nothing

		setValue: load("set_value.lua", "").on(keysOfValue),
		value:    load("value.lua", always).on(1),
	}
}

// run runs the script on the keys of a lock, where few others learn at the same time that the server does not know it.
func (s *script) run(ctx context.Context, conn Conn, keys, args []string) ([]string, error) {
	return new(texts).run(ctx, s, conn, keys, args)
}

// runMany runs the script many times in one round trip. Runs of which the server did not know the script go again:
// the first with its text, so that the server knows it for the others, which follow by hash. Should the server have
// forgotten it once more in between, each goes with the text.
func (s *script) runMany(ctx context.Context, conn Conn, cmds []Command) []Reply {
	replies := conn.DoMany(ctx, cmds)
	for _, heads := range [][2][]string{{s.full, s.head}, {s.full, s.full}} {
		var again []Command
		var at []int
		for i, r := range replies {
			if !isNoScript(r.Err) {
				continue
			}
			cmd := cmds[i]
			cmd.Head = heads[min(len(again), 1)]
			again, at = append(again, cmd), append(at, i)
		}
		if len(again) == 0 {
			break
		}
		for i, r := range conn.DoMany(ctx, again) {
			replies[at[i]] = r
		}
	}
	for i := range replies {
		replies[i].Err = explain(replies[i].Err)
	}
	return replies
}
