package fence

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// An answer is a ResponseWriter that accepts the request's token when the status says that it was served. It has the
// abilities that handlers look for; others they find with [http.ResponseController].
type answer struct {
	http.ResponseWriter
	accept func()
	begun  bool // the status is known
}

// begin notes the status. Those below 200 are not the last word.
func (a *answer) begin(status int) {
	if a.begun || status < http.StatusOK {
		return
	}
	a.begun = true
	if status < http.StatusMultipleChoices {
		a.accept()
	}
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// ReadFrom implements [io.ReaderFrom], so that files are sent by the kernel.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	a.begin(http.StatusOK)
	return io.Copy(a.ResponseWriter, r)
}

// Flush implements [http.Flusher].
func (a *answer) Flush() { _ = a.FlushError() } // a Flusher has no way to tell

// FlushError is for [http.ResponseController]. Where the ResponseWriter cannot flush, nothing is sent, so the status is
// still to come; where it fails in another way, it has begun to answer with 200.
func (a *answer) FlushError() error {
	err := http.NewResponseController(a.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		a.begin(http.StatusOK)
	}
	return err
}

// Hijack implements [http.Hijacker]. What then is answered cannot be seen, so nothing is accepted by it.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	a.begun = a.begun || err == nil
	return conn, rw, err
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
