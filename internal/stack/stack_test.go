package stack_test

import (
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/stack"
)

// BenchmarkGrow is what a goroutine costs that calls as deep as an operation does, with and without Grow.
func BenchmarkGrow(b *testing.B) {
	for name, first := range map[string]func(){"without": func() {}, "with": stack.Grow} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var ended sync.WaitGroup
				ended.Go(func() {
					first()
					descend(40)
				})
				ended.Wait()
			}
		})
	}
}

// descend calls itself so often. Each call has about the frame of a method in the core.
//
//go:noinline
func descend(n int) byte {
	var frame [160]byte
	if n == 0 {
		return frame[n]
	}
	return descend(n-1) + frame[n]
}
