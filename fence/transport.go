package fence

import "net/http"

// Transport sends the token of a request's context (see [NewContext]) in the header Fencing-Token, and turns the answer
// that it was refused into an error that matches [ErrStale]. Other answers with an error status are no errors; this one
// is, because a client that does not look at the status must not take a refused write for a successful one.
type Transport struct {
	Base http.RoundTripper // http.DefaultTransport when nil
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	token, ok := Held(r.Context())
	if !ok {
		return base.RoundTrip(r)
	}
	if err := Check(token); err != nil {
		return nil, abandon(r, err)
	}
	r = r.Clone(r.Context())
	r.Header.Set(Header, Format(token))
	answer, err := base.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusPreconditionFailed {
		return answer, err
	}
	marks, marked := answer.Header[staleHeader]
	if !marked {
		return answer, nil
	}
	answer.Body.Close()
	seen, _ := Parse(marks[0]) // a guard that does not know says nothing
	return nil, Stale(r.URL.Host+r.URL.Path, token, seen)
}

// abandon closes the body of a request that is not sent, as a RoundTripper must.
func abandon(r *http.Request, err error) error {
	if r.Body != nil {
		r.Body.Close()
	}
	return err
}
