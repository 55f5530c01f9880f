package etcdlock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A front stands between clients and an etcd server, understands what they say, and may answer in the server's place.
type front struct {
	addr string

	mu    sync.Mutex
	serve func(*call) ([]byte, error) // nil: the server does
	calls map[string]int
}

// A call is one request that is not a stream.
type call struct {
	method  string // like "KV/Txn"
	request []byte
	forward func() ([]byte, error) // asks the server
}

// newFront starts one before a server.
func newFront(t testing.TB, server string) *front {
	t.Helper()
	behind, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesAsTheyAre{})))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{addr: l.Addr().String(), calls: make(map[string]int)}
	s := grpc.NewServer(grpc.ForceServerCodec(bytesAsTheyAre{}), grpc.UnknownServiceHandler(
		func(_ any, client grpc.ServerStream) error { return f.handle(client, behind) }))
	go s.Serve(l) // ends with Stop
	t.Cleanup(func() {
		s.Stop()
		behind.Close()
	})
	return f
}

// answer has calls answered so from now on.
func (f *front) answer(serve func(*call) ([]byte, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve = serve
	clear(f.calls)
}

// refuse has the calls of some methods answered with an error, before or after the server has done what they ask for.
func (f *front) refuse(done bool, err error, methods ...string) {
	f.answer(func(c *call) ([]byte, error) {
		if !slices.Contains(methods, c.method) {
			return c.forward()
		}
		if done {
			if _, err := c.forward(); err != nil {
				return nil, err
			}
		}
		return nil, err
	})
}

// count is how many calls of a method there were since the last answer was set.
func (f *front) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *front) handle(client grpc.ServerStream, behind *grpc.ClientConn) error {
	full, _ := grpc.MethodFromServerStream(client)
	ctx := client.Context()
	if received, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, received)
	}
	if strings.HasSuffix(full, "/Watch") || strings.HasSuffix(full, "/LeaseKeepAlive") {
		return passStream(ctx, full, client, behind)
	}
	c := &call{method: strings.TrimPrefix(full, "/etcdserverpb.")}
	if err := client.RecvMsg(&c.request); err != nil {
		return err
	}
	c.forward = func() (answer []byte, err error) { return answer, behind.Invoke(ctx, full, &c.request, &answer) }
	f.mu.Lock()
	f.calls[c.method]++
	serve := f.serve
	f.mu.Unlock()
	if serve == nil {
		serve = func(c *call) ([]byte, error) { return c.forward() }
	}
	answer, err := serve(c)
	if err != nil {
		return status.Convert(err).Err()
	}
	return client.SendMsg(&answer)
}

// passStream copies both ways until one side ends.
func passStream(ctx context.Context, method string, client grpc.ServerStream, behind *grpc.ClientConn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := behind.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() { // ends with the client's stream, or with ctx
		for {
			var message []byte
			if client.RecvMsg(&message) != nil || server.SendMsg(&message) != nil {
				server.CloseSend()
				return
			}
		}
	}()
	for {
		var message []byte
		if err := server.RecvMsg(&message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := client.SendMsg(&message); err != nil {
			return err
		}
	}
}

// bytesAsTheyAre is a codec that leaves messages as they are.
type bytesAsTheyAre struct{}

func (bytesAsTheyAre) Name() string { return "proto" }

func (bytesAsTheyAre) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (bytesAsTheyAre) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = slices.Clone(data)
	return nil
}

// decoded reads a message into m, which it returns.
func decoded[M any](t testing.TB, data []byte, m M) M {
	t.Helper()
	if err := encoding.GetCodecV2(proto.Name).Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, m); err != nil {
		t.Error(err)
	}
	return m
}
