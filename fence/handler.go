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

// Handler lets requests through to next in the order of their tokens. While it serves one request, no other request for
// the same resource is served. A request with a smaller token than the greatest accepted one is answered with 412
// Precondition Failed, a request without a token with 428 Precondition Required, and one for a resource for which seen
// has no room with 503 Service Unavailable. resource returns the name of what a request writes to, or "" for a request
// that writes nothing and needs no token.
//
// A token is accepted when next answers with a status from 200 to 299, or before, when next calls [Accept]. So a
// request that next refuses, for example with 401, changes nothing, whatever its token. A write that may fail half way,
// or that is answered with another status, needs Accept before it begins: otherwise a late holder could write after it.
//
// Put Handler behind authentication and authorisation: while a request is served, the others for its resource wait,
// even if its client was paused in the midst of sending it, and a refusal reveals the greatest token. Bound how long
// that takes with [http.Server.ReadTimeout].
//
// The tokens are remembered in seen, in this process only. A service that runs as several processes, or whose data
// outlives them, should check where it writes: next finds the token in the request's context ([Received]), and passes
// it to [SQL], for example.
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

// Accept says that the application has accepted the request that [Handler] lets through: from now on smaller tokens are
// stale, even if this request fails, for each resource that has a Handler around the application. Call it before the
// write, once the client is known to be allowed to write. ctx is the request's. If it returns an error, write nothing:
// Handler does not serve this request, or no longer does.
func Accept(ctx context.Context) error {
	v := carriedBy(ctx).received
	if v == nil {
		return errors.New("no fencing token was received: " +
			"this is not the context of a request that fence.Handler serves")
	}
	var errs []error
	for ; v != nil; v = v.around {
		errs = append(errs, v.accept())
	}
	return errors.Join(errs...)
}

// Refuse answers a request whose token was refused by a resource behind the service, so that [Transport] recognises the
// refusal. It is for handlers that check with [SQL] or the like. It reports whether err matches [ErrStale], and
// otherwise does nothing.
func Refuse(w http.ResponseWriter, err error) bool {
	if !errors.Is(err, ErrStale) {
		return false
	}
	w.Header().Set(staleHeader, "")
	http.Error(w, err.Error(), http.StatusPreconditionFailed)
	return true
}
