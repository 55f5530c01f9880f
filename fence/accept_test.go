package fence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/fence"
)

// guarded is a service whose handler is next, and whose requests all write to one resource. ask sends it a token and
// returns the status.
func guarded(next http.HandlerFunc) (seen *fence.Register, ask func(token uint64) int) {
	seen = new(fence.Register)
	handler := fence.Handler(seen, func(*http.Request) string { return "r" }, next)
	return seen, func(token uint64) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", nil)
		r.Header.Set(fence.Header, fence.Format(token))
		handler.ServeHTTP(w, r)
		return w.Code
	}
}

// Only what the application accepted makes smaller tokens stale.
func TestHandlerLearnsFromWhatWasAccepted(t *testing.T) {
	for _, row := range []struct {
		name    string
		serve   http.HandlerFunc
		accepts bool
	}{
		{"nothing is said", func(http.ResponseWriter, *http.Request) {}, true},
		{"200 with a body", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") }, true},
		{"a file", func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, strings.NewReader("done")) }, true},
		{"flushed", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, true},
		{"204", status(http.StatusNoContent), true},
		{"early hints, then 201", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
		}, true},
		{"early hints, then 403", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusForbidden)
		}, false},
		{"401", status(http.StatusUnauthorized), false},
		{"302 to the login", status(http.StatusFound), false},
		{"500", status(http.StatusInternalServerError), false},
		{"401, whatever it says later", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			w.WriteHeader(http.StatusOK)
			io.WriteString(w, "who are you?")
		}, false},
		{"accepted, then 500", func(w http.ResponseWriter, r *http.Request) {
			if err := fence.Accept(r.Context()); err != nil {
				panic(err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		}, true},
		{"a panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"accepted, then a panic", func(_ http.ResponseWriter, r *http.Request) {
			fence.Accept(r.Context())
			panic(http.ErrAbortHandler)
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			first := true
			seen, ask := guarded(func(w http.ResponseWriter, r *http.Request) {
				if first {
					first = false
					row.serve(w, r)
				}
			})
			func() {
				defer func() { _ = recover() }()
				ask(fence.MaxToken)
			}()
			want := map[bool]int{true: http.StatusPreconditionFailed, false: http.StatusOK}[row.accepts]
			if got := ask(7); got != want {
				t.Errorf("a smaller token is answered %d, want %d", got, want)
			}
			if row.accepts != (seen.Seen("r") == fence.MaxToken) {
				t.Errorf("seen: %d", seen.Seen("r"))
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Who waits while another is served is judged by what that one's answer taught, and by nothing before.
func TestHandlerWithTwoInFlight(t *testing.T) {
	for _, row := range []struct {
		first, second uint64
		answer        int // to the first
		want          int // to the second
	}{
		{6, 5, http.StatusOK, http.StatusPreconditionFailed},
		{6, 5, http.StatusUnauthorized, http.StatusOK},
		{5, 6, http.StatusOK, http.StatusOK},
		{5, 6, http.StatusUnauthorized, http.StatusOK},
	} {
		synctest.Test(t, func(t *testing.T) {
			goOn := make(chan struct{})
			inside := 0
			_, ask := guarded(func(w http.ResponseWriter, r *http.Request) {
				if inside++; inside > 1 {
					t.Error("two are served at once")
				}
				if token, _ := fence.Received(r.Context()); token == row.first {
					<-goOn
					w.WriteHeader(row.answer)
				}
				inside--
			})
			var done sync.WaitGroup
			done.Go(func() { ask(row.first) })
			synctest.Wait()
			done.Go(func() {
				if got := ask(row.second); got != row.want {
					t.Errorf("%+v: the second is answered %d", row, got)
				}
			})
			synctest.Wait()
			close(goOn)
			done.Wait()
		})
	}
}

// Whose client is gone does not wait on, and teaches nothing.
func TestHandlerWaitEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(fence.Register)
		goOn := make(chan struct{})
		handler := fence.Handler(seen, func(*http.Request) string { return "r" }, http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) { <-goOn }))
		send := func(ctx context.Context, token uint64) {
			r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/", nil)
			r.Header.Set(fence.Header, fence.Format(token))
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		go send(t.Context(), 5)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { send(ctx, 9); close(gone) }()
		synctest.Wait()
		cancel()
		<-gone
		close(goOn)
		synctest.Wait()
		if got := seen.Seen("r"); got != 5 {
			t.Errorf("seen: %d", got)
		}
	})
}

// A token that is accepted when its request is over could be that of a holder whose successor writes.
func TestAcceptWhereNothingIsServed(t *testing.T) {
	if err := fence.Accept(fence.NewContext(t.Context(), 5)); err == nil {
		t.Error("what we hold is accepted as if it had been received")
	}
	var late context.Context
	seen, ask := guarded(func(w http.ResponseWriter, r *http.Request) {
		late = r.Context()
		w.WriteHeader(http.StatusUnauthorized)
	})
	ask(9)
	if err := fence.Accept(late); err == nil || seen.Seen("r") != 0 {
		t.Errorf("accepted late: %v, seen %d", err, seen.Seen("r"))
	}
}

// A request that writes to two resources, each with a Handler of its own, is accepted for both.
func TestAcceptForTwoResources(t *testing.T) {
	seen := new(fence.Register)
	named := func(name string) func(*http.Request) string { return func(*http.Request) string { return name } }
	handler := fence.Handler(seen, named("folder"), fence.Handler(seen, named("file"), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if err := fence.Accept(r.Context()); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusInsufficientStorage) // after some of it was written
		})))
	r := httptest.NewRequest(http.MethodPut, "/", nil)
	r.Header.Set(fence.Header, "9")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if folder, file := seen.Seen("folder"), seen.Seen("file"); folder != 9 || file != 9 {
		t.Errorf("seen for the folder: %d, for the file: %d", folder, file)
	}
}

// Service A was called with a token, and calls service B: that token is of a lock that A's client
// holds, and none of B's.
func TestReceivedTokenIsNotSentOnwards(t *testing.T) {
	var got []string
	b := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get(fence.Header))
	}))
	defer b.Close()
	client := &http.Client{Transport: new(fence.Transport)}
	call := func(ctx context.Context) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, b.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	_, ask := guarded(func(w http.ResponseWriter, r *http.Request) {
		call(r.Context())
		own := fence.NewContext(r.Context(), 70)
		call(own)
		for ctx, want := range map[context.Context]string{
			r.Context(): "7 true 0 false 7 true",
			own:         "7 true 70 true 70 true",
		} {
			received, isReceived := fence.Received(ctx)
			held, isHeld := fence.Held(ctx)
			last, some := fence.FromContext(ctx)
			if got := fmt.Sprint(received, isReceived, held, isHeld, last, some); got != want {
				t.Errorf("the context carries %s, want %s", got, want)
			}
		}
	})
	ask(7)
	if fmt.Sprint(got) != "[ 70]" {
		t.Errorf("sent onwards: %q", got)
	}
}

// The abilities of the server's ResponseWriter reach the handler.
func TestHandlerKeepsAbilities(t *testing.T) {
	seen := new(fence.Register)
	server := httptest.NewServer(fence.Handler(seen, func(*http.Request) string { return "r" }, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
				t.Error(err)
			}
			conn, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			rw.WriteString("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n")
			rw.Flush()
		})))
	defer server.Close()
	client := &http.Client{Transport: new(fence.Transport)}
	answer, err := put(t, client, server.URL, 5)
	if err != nil || answer.StatusCode != http.StatusTeapot {
		t.Errorf("%v, %v", answer, err)
	}
	if got := seen.Seen("r"); got != 0 {
		t.Errorf("seen: %d, though nobody knows what was answered", got)
	}
}

// An answer of a server that cannot flush.
type unflushed struct{ http.ResponseWriter }

// A flush that was not possible has not sent a status, so it accepts nothing, and the handler learns of it.
func TestHandlerThatCannotFlush(t *testing.T) {
	var told error
	seen := new(fence.Register)
	handler := fence.Handler(seen, func(*http.Request) string { return "r" },
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			told = http.NewResponseController(w).Flush()
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusInternalServerError)
		}))
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", nil)
	r.Header.Set(fence.Header, fence.Format(7))
	handler.ServeHTTP(unflushed{w}, r)
	if !errors.Is(told, http.ErrNotSupported) {
		t.Errorf("the handler was told %v", told)
	}
	if got := seen.Seen("r"); w.Code != http.StatusInternalServerError || got != 0 {
		t.Errorf("it answered %d, and %d is accepted; want 500, and nothing", w.Code, got)
	}
}
