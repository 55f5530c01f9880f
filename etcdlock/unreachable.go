package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// An unreachable error is that of a call that found no connection to send its request over. It says why, where etcd's
// client says only that the time was up.
type unreachable struct {
	reason string // why there was no connection
	call   error  // the context's error for a call that waited until its context ended, else gRPC's
	cause  error  // the error of the TLS handshake; nil where that was not the reason
}

func (e *unreachable) Error() string { return "no connection: " + e.reason }

// Is has an error match that of the context. It is not unwrapped, because it would pass for an error of the network,
// which a certificate that is not trusted is not.
func (e *unreachable) Is(target error) bool { return target == e.call }

func (e *unreachable) Unwrap() []error {
	errs := make([]error, 0, 2)
	if !isContextError(e.call) { // etcd's client needs the code of gRPC's error
		errs = append(errs, e.call)
	}
	if e.cause != nil {
		errs = append(errs, e.cause)
	}
	return errs
}

func isContextError(err error) bool {
	return err == context.DeadlineExceeded || err == context.Canceled
}

// A dialLog adds to the errors of a client's calls why there was no connection. gRPC hands on the text alone, so that
// the log keeps the errors of handshakes.
type dialLog struct {
	mu         sync.Mutex
	handshakes []error // the newest ones that failed
}

// keptHandshakes is how many errors are kept: one for each member of a large cluster.
const keptHandshakes = 9

// attach has the clients of a configuration use the log. TLS must have been set up before.
func (l *dialLog) attach(config *clientv3.Config) {
	config.DialOptions = append(config.DialOptions,
		grpc.WithChainUnaryInterceptor(l.unary), grpc.WithChainStreamInterceptor(l.stream))
	if config.TLS != nil {
		config.DialOptions = append(config.DialOptions,
			grpc.WithTransportCredentials(loggedTLS{credentials.NewTLS(config.TLS), l}))
	}
}

func (l *dialLog) unary(
	ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	return l.explain(ctx, invoke(ctx, method, req, reply, conn, opts...))
}

func (l *dialLog) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, conn, method, opts...)
	return s, l.explain(ctx, err)
}

// The texts of gRPC's errors that are about a connection begin with these.
const (
	whileWaiting = "latest balancer error: "
	ofConnection = "connection error: "
)

// explain returns an unreachable error for one of gRPC that is about the lack of a connection.
func (l *dialLog) explain(ctx context.Context, err error) error {
	said := status.Convert(err)
	e := &unreachable{call: err}
	switch said.Code() {
	case codes.Canceled, codes.DeadlineExceeded:
		if !strings.HasPrefix(said.Message(), whileWaiting) || ctx.Err() == nil {
			return err
		}
		e.call = ctx.Err()
	case codes.Unavailable:
		if !strings.Contains(said.Message(), ofConnection) {
			return err
		}
	default:
		return err
	}
	e.reason = plainReason(said.Message())
	if e.cause = l.handshake(e.reason); e.cause == io.EOF {
		e.reason = endedHandshake
	}
	return e
}

// endedHandshake is what a server does that does not speak TLS.
const endedHandshake = "the server ended the TLS handshake"

// plainReason takes off what gRPC puts around the reason for which there is no connection.
func plainReason(text string) string {
	for _, prefix := range []string{whileWaiting, "last connection error: ", ofConnection, "desc = "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if inner, err := strconv.Unquote(text); err == nil {
		text = inner
	}
	for _, prefix := range []string{"transport: ", "Error while dialing: ", "authentication handshake failed: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// handshake returns the error of the handshake that a reason speaks of, or nil.
func (l *dialLog) handshake(reason string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.handshakes, func(err error) bool { return err.Error() == reason })
	if i < 0 {
		return nil
	}
	return l.handshakes[i]
}

// failed notes the error of a handshake.
func (l *dialLog) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handshakes = slices.Insert(l.handshakes, 0, err)
	l.handshakes = l.handshakes[:min(len(l.handshakes), keptHandshakes)]
}

// loggedTLS notes the errors of handshakes.
type loggedTLS struct {
	credentials.TransportCredentials
	log *dialLog
}

func (t loggedTLS) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := t.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		t.log.failed(err)
	}
	return conn, info, err
}

func (t loggedTLS) Clone() credentials.TransportCredentials {
	return loggedTLS{t.TransportCredentials.Clone(), t.log}
}

// notOpened is the error of opening a driver. It ends with what to do.
func notOpened(err error, speaksTLS bool, files pemfile.Files) error {
	var reason *unreachable
	if errors.As(err, &reason) {
		err = reason // and not that the time was up, too
	}
	var answer *driver.ServerError
	switch err = inPlainWords(explain(err)); {
	case errors.As(err, &answer):
		return fmt.Errorf("etcd: %w", err)
	case says(err, endedHandshake):
		return fmt.Errorf("etcd: %w; it may not speak TLS: leave tls=true, ca= and cert= out of the URL", err)
	case !speaksTLS && says(err, ends...):
		return fmt.Errorf("etcd: %w; it may want TLS: set tls=true in the URL", err)
	case speaksTLS && files.Cert == "" && says(err, append(ends, "certificate required", "bad certificate")...):
		return fmt.Errorf("etcd: %w; it may want a client's certificate: set cert= and key= in the URL", err)
	case isAboutTLS(err):
		return fmt.Errorf("etcd: %w%s", err, hint(files))
	default:
		return fmt.Errorf("etcd does not answer: %w; is it running and reachable?", err)
	}
}

// inPlainWords returns the error of a call on a connection that broke, without the name of its code.
func inPlainWords(err error) error {
	if said, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return inWords{err, said.GRPCStatus().Message()}
	}
	return err
}

// inWords is an error that is told in other words.
type inWords struct {
	error
	words string
}

func (e inWords) Error() string { return e.words }
func (e inWords) Unwrap() error { return e.error }

// ends are what is said of a connection that the server has ended before it said anything: one of them, depending on
// what the client was doing just then.
var ends = []string{"error reading server preface: EOF", "connection reset by peer", "broken pipe"}

// says reports whether the text of an error has one of these in it.
func says(err error, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) })
}
