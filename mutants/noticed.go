package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// memoryFile is where it stands which test noticed each fault: a line for each, DRIVER/FAULT and the test.
const memoryFile = faultsDir + "/noticed.txt"

// A memory is which test noticed each fault when that was tried last. It is asked first, because it takes seconds where
// all tests of a driver take minutes.
type memory struct {
	mu   sync.Mutex
	test map[string]string // for each DRIVER/FAULT
}

// recall reads the memory of a tree. One without the file remembers nothing.
func recall(tree string) (*memory, error) {
	m := &memory{}
	text, err := os.ReadFile(filepath.Join(tree, memoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	for line := range strings.Lines(string(text)) {
		if fault, test, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			m.note(fault, test)
		}
	}
	return m, err
}

func (m *memory) of(fault string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.test[fault]
}

// note remembers the test, if it is one: a panic tells no name.
func (m *memory) note(fault, test string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.HasPrefix(test, "Test") {
		return
	}
	if m.test == nil {
		m.test = make(map[string]string)
	}
	m.test[fault] = test
}

// save writes what is remembered of the faults that a tree still has.
func (m *memory) save(tree string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	for _, fault := range slices.Sorted(maps.Keys(m.test)) {
		if _, err := os.Stat(filepath.Join(tree, faultsDir, fault+".patch")); err == nil {
			fmt.Fprintf(&text, "%s %s\n", fault, m.test[fault])
		}
	}
	return os.WriteFile(filepath.Join(tree, memoryFile), []byte(text.String()), 0o644)
}

// only is the flag of go test that chooses some tests, or some that stand in others.
func only(tests ...string) string {
	var chosen []string
	for _, test := range tests {
		parts := strings.Split(test, "/")
		for i, part := range parts {
			parts[i] = "^" + regexp.QuoteMeta(part) + "$"
		}
		chosen = append(chosen, strings.Join(parts, "/"))
	}
	return "-run=" + strings.Join(chosen, "|")
}
