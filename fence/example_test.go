package fence_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/memlock"
)

// twoHolders returns two leases of one lock. The first holder was paused until its lease was over, which it has not
// noticed; the second has the lock.
func twoHolders(ctx context.Context) (late, now *holdfast.Lease, err error) {
	engine := memlock.New() // or any other
	first, second := holdfast.New(engine), holdfast.New(engine)
	if late, err = first.Mutex("report").Lock(ctx); err != nil {
		return nil, nil, err
	}
	queue, err := second.Queue(ctx, "report")
	if err != nil {
		return nil, nil, err
	}
	if err := second.Break(ctx, "report", queue[0].ID); err != nil { // as the end of its TTL would
		return nil, nil, err
	}
	now, err = second.Mutex("report").Lock(ctx)
	return late, now, err
}

// A resource in this process's memory.
func ExampleRegister() {
	late, now, err := twoHolders(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	report := "empty"
	var seen fence.Register
	write := func(lease *holdfast.Lease, text string) error {
		return seen.Do("report", lease.Token(), func() error {
			report = text
			return nil
		})
	}

	fmt.Println(write(now, "new"))
	fmt.Println(errors.Is(write(late, "old"), fence.ErrStale))
	fmt.Println(report)
	// Output:
	// <nil>
	// true
	// new
}

// A write that may fail half way counts from its beginning: whoever is late must not write after it.
func ExampleAccept() {
	var seen fence.Register
	path := func(r *http.Request) string { return r.URL.Path }
	handler := fence.Handler(&seen, path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, ok := r.BasicAuth(); !ok || user != "alice" { // better in front of the Handler
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if err := fence.Accept(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		http.Error(w, "the disk is full", http.StatusInsufficientStorage) // after some of it was written
	}))

	put := func(user string, token uint64) {
		r := httptest.NewRequest(http.MethodPut, "/report", strings.NewReader("text"))
		r.Header.Set(fence.Header, fence.Format(token))
		r.SetBasicAuth(user, "")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, seen.Seen("/report"))
	}
	put("mallory", fence.MaxToken) // teaches nothing
	put("alice", 8)
	put("alice", 7)
	// Output:
	// 401 0
	// 507 8
	// 412 8
}

// A service that locks for itself while it serves a request sends the token of its own lock onwards.
func ExampleReceived() {
	var seen fence.Register
	path := func(r *http.Request) string { return r.URL.Path }
	handler := fence.Handler(&seen, path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received, _ := fence.Received(r.Context()) // of our client's lock: for fence.SQL, where we write
		_, holds := fence.Held(r.Context())
		fmt.Println(received, holds)

		onwards := fence.NewContext(r.Context(), 300) // of a lock of ours: fence.Transport sends it
		held, _ := fence.Held(onwards)
		fmt.Println(held)
	}))
	r := httptest.NewRequest(http.MethodPut, "/report", nil)
	r.Header.Set(fence.Header, "8")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// 8 false
	// 300
}

// A resource behind HTTP: the server refuses, and the client of the paused holder gets an error.
func ExampleHandler() {
	ctx := context.Background()
	late, now, err := twoHolders(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	path := func(r *http.Request) string { return r.URL.Path }
	server := httptest.NewServer(fence.Handler(new(fence.Register), path, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { fmt.Println("written") })))
	defer server.Close()

	client := &http.Client{Transport: new(fence.Transport)}
	write := func(lease *holdfast.Lease) error {
		ctx := fence.NewContext(ctx, lease.Token())
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+"/report", strings.NewReader("text"))
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
	fmt.Println(write(now))
	fmt.Println(errors.Is(write(late), fence.ErrStale))
	// Output:
	// written
	// <nil>
	// true
}
