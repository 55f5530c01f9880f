package gocronlock

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
)

// A job without a name of its own has the name of its function, which gocron finds by reflection. Two programs that
// agree on the source may still disagree on the names of closures, because these depend on what the compiler inlines.
// And all closures that one line makes, all values of one method, and all instances of one generic function have one
// name, although they are different jobs: they would keep each other from running, and nobody would be told.

// ofManyFunctions matches the names that several functions may have, or one function in one build only.
var ofManyFunctions = regexp.MustCompile(`\.func\d+([.-]|$)|\.gowrap\d+|-range\d+|\[\.\.\.\]|^\S+\.\S+\.\w+-fm$`)

// ofAFunction matches the names of plain functions, which are the same in each build. Names that people choose may look
// the same.
var ofAFunction = regexp.MustCompile(`^([^\s/]+/)*[^\s/]+\.\w+$`)

// names knows which job has the name of which function.
type names struct {
	mu   sync.Mutex
	jobs map[string]context.Context // by the lock: the context of the job, which ends when the job is removed
	told map[string]bool            // the keys that were refused
}

// check refuses a key that does not tell a job from others, as the name of a lock. gocron tells errors to those alone
// who listen for them, so the first refusal of a key is logged with slog, too.
func (n *names) check(job context.Context, key, lock string) error {
	err := n.judge(job, key, lock)
	if err != nil && n.isNews(key) {
		slog.ErrorContext(job, "gocronlock: a job does not run", "job", key, "error", err)
	}
	return err
}

func (n *names) isNews(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.told[key]
	n.told[key] = true
	return !was
}

func (n *names) judge(job context.Context, key, lock string) error {
	switch {
	case key == "" || ofManyFunctions.MatchString(key):
		return fmt.Errorf("gocronlock: the job has no name of its own, and its function is called %q, as others are; "+
			"name it with gocron.WithName, or make it with Locker.NewJob", key)
	case ofAFunction.MatchString(key) && !n.claim(job, lock):
		return fmt.Errorf("gocronlock: two jobs are called %q, and would keep each other from running; "+
			"name them with gocron.WithName, or make them with Locker.NewJob", key)
	}
	return nil
}

// claim reports whether no other job has the lock.
func (n *names) claim(job context.Context, lock string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if other, ok := n.jobs[lock]; ok && other != job && other.Err() == nil {
		return false
	}
	n.jobs[lock] = job
	return true
}
