package fence

import (
	"context"
	"errors"
	"net/http"
)

// Header carries a token in an HTTP request.
const Header = "Fencing-Token"

// staleHeader marks the answer that a token was refused, among others with the same status.
const staleHeader = "Fencing-Token-Seen"

// Handler lets requests through to next in the order of their tokens: while one is served no other is that names the
// same resource, and one with a smaller token than the greatest that was accepted is answered 412 Precondition
// Failed. resource returns what a request writes to, or "" for one that writes nothing and needs no token. A request
// without a token is answered 428 Precondition Required; one for a resource for which seen has no room, 503 Service
// Unavailable.
//
// A token is accepted when next answers with a status from 200 to 299, or before, when next calls [Accept]. So a
// request that next refuses, such as with 401, teaches nothing, whatever its token. A write that may fail half way,
// or that is answered with another status, needs Accept before it begins: otherwise a late holder could write after
// it.
//
// Handler stands behind what authenticates and authorises: while a request is served the others for its resource
// wait, also for a client that was paused in the midst of sending it, and a refusal tells the greatest token. Bound
// how long that takes with [http.Server.ReadTimeout].
//
// The tokens are remembered in seen, by this process alone. A service that runs as several processes, or that keeps
// what it writes for longer, checks where it writes: next finds the token in the request's context ([Received]), to
// be passed to [SQL] for one.
func Handler(seen *Register, resource func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := resource(r)
		if name == "" {
			next.ServeHTTP(w, r)
			return
		}
		token, err := Parse(r.Header.Get(Header))
		if err != nil {
			said := "send the header " + Header + " with the fencing token of your lock: " + err.Error()
			http.Error(w, said, http.StatusPreconditionRequired)
			return
		}
		v, err := seen.enter(r.Context(), name, token)
		if err != nil {
			refuse(w, err, seen.Seen(name))
			return
		}
		defer v.leave()
		v.serve(w, r, next)
	})
}

// serve lets next answer a request, whose token is accepted as soon as its status says so.
func (v *visit) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := &answer{ResponseWriter: w, accept: func() { _ = v.accept() }} // it was not stale, and it is not over
	next.ServeHTTP(answer, r.WithContext(v.receive(r.Context())))
	answer.begin(http.StatusOK) // which net/http sends for a handler that says nothing
}

// refuse answers a request that may not be served.
func refuse(w http.ResponseWriter, err error, seen uint64) {
	if errors.Is(err, ErrStale) {
		w.Header().Set(staleHeader, Format(seen))
		http.Error(w, err.Error(), http.StatusPreconditionFailed)
		return
	}
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// Accept says that the application has accepted the request that [Handler] lets through: from now on smaller tokens
// are stale, whatever becomes of this one. Call it once the client is known to be allowed to write, before the write.
// ctx is the request's. When it returns an error nothing is to be written: Handler does not serve the request, or not
// any more.
func Accept(ctx context.Context) error {
	if v := carriedBy(ctx).received; v != nil {
		return v.accept()
	}
	return errors.New("no fencing token was received: this is not the context of a request that fence.Handler serves")
}

// Refuse answers a request whose token a resource behind the service has refused, for handlers that check with [SQL] or
// the like, so that [Transport] knows it. It reports whether err matches [ErrStale].
func Refuse(w http.ResponseWriter, err error) bool {
	if !errors.Is(err, ErrStale) {
		return false
	}
	w.Header().Set(staleHeader, "")
	http.Error(w, err.Error(), http.StatusPreconditionFailed)
	return true
}
