//go:build linux

package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/strangers find a web server where their URLs say that there is a backend: $PLAIN, and
// $ENCRYPTED with a certificate of its own making.
func TestOnStrangers(t *testing.T) {
	t.Parallel()
	plain, encrypted := httptest.NewServer(http.NotFoundHandler()), httptest.NewUnstartedServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust it are what it is for
	encrypted.StartTLS()
	t.Cleanup(func() { plain.Close(); encrypted.Close() })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/strangers",
		Setup: func(env *testscript.Env) error {
			prepare(env, "")
			env.Setenv("PLAIN", plain.Listener.Addr().String())
			env.Setenv("ENCRYPTED", encrypted.Listener.Addr().String())
			return nil
		},
	})
}
