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

// Handler lets requests through to next in the order of their tokens: while one is served no other is that names the same
// resource, and one with a smaller token than the greatest so far is answered 412 Precondition Failed. resource returns
// what a request writes to, or "" for one that writes nothing and needs no token. A request without a token is
// answered 428 Precondition Required. Others wait while a request is served, also for a client that was paused in the midst
// of sending it: bound that with [http.Server.ReadTimeout].
//
// The tokens are remembered in seen, by this process alone. A service that runs as several processes, or that keeps what
// it writes for longer, checks where it writes: next finds the token in the request's context ([FromContext]), to be
// passed to [SQL] for one.
func Handler(seen *Register, resource func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := resource(r)
		if name == "" {
			next.ServeHTTP(w, r)
			return
		}
		token, err := Parse(r.Header.Get(Header))
		if err != nil {
			http.Error(w, "send the header "+Header+" with the fencing token of your lock: "+err.Error(), http.StatusPreconditionRequired)
			return
		}
		err = seen.Do(name, token, func() error {
			next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), token)))
			return nil
		})
		if errors.Is(err, ErrStale) {
			w.Header().Set(staleHeader, Format(seen.Seen(name)))
			http.Error(w, err.Error(), http.StatusPreconditionFailed)
		}
	})
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

type contextKey struct{}

// NewContext returns a context that carries a token, for [Transport] to send.
func NewContext(ctx context.Context, token uint64) context.Context {
	return context.WithValue(ctx, contextKey{}, token)
}

// FromContext returns the token that a context carries.
func FromContext(ctx context.Context) (token uint64, ok bool) {
	token, ok = ctx.Value(contextKey{}).(uint64)
	return token, ok
}
