package etcdlock

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// A server may end the connection before a call is written, or while it is.
func TestOpenErrorOfABrokenCall(t *testing.T) {
	call := status.Error(codes.Unavailable, "write tcp 127.0.0.1:50070->127.0.0.1:46627: write: broken pipe")
	err := notOpened(call, false, pemfile.Files{})
	if text := err.Error(); strings.Contains(text, "rpc error") || !strings.Contains(text, "set tls=true") {
		t.Errorf("the error is %q, want what happened, and that the server may want TLS", text)
	}
	if !errors.Is(err, call) {
		t.Errorf("%v has lost its cause", err)
	}
}
