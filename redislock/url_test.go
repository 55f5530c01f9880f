package redislock_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestURLs(t *testing.T) {
	socket := t.TempDir() + "/redis.sock"
	srv := servers.Redis(t, "--unixsocket", socket)
	srv.RedisCommand(t, "ACL", "SETUSER", "app", "on", ">a:b@c", "~*", "&*", "+@all")
	host, port, _ := net.SplitHostPort(srv.Addr)
	within := "redis://" + srv.Addr + "?replicas=1&replicaswithin="
	for name, tt := range map[string]struct{ url, want string }{
		"plain":                    {"redis://" + host + ":" + port, ""},
		"a database":               {"redis://" + srv.Addr + "/3", ""},
		"a prefix":                 {"redis://" + srv.Addr + "?prefix=mine:", ""},
		"a user":                   {"redis://app:a%3Ab%40c@" + srv.Addr, ""},
		"a socket":                 {"redis+unix://" + socket, ""},
		"a socket and more":        {"redis+unix://app:a%3Ab%40c@" + socket + "?db=3&prefix=mine:", ""},
		"a socket as a parameter":  {"redis:///?socket=" + socket, ""},
		"socket and host":          {"redis://" + srv.Addr + "/?socket=" + socket, "either a host or"},
		"socket with two slashes":  {"redis+unix:/" + socket, "three slashes"},
		"no host":                  {"redis://", "one host"},
		"two hosts":                {"redis://a,b", "redis-sentinel:"},
		"not a database":           {"redis://" + srv.Addr + "/x", "number of a database"},
		"unknown parameter":        {"redis://" + srv.Addr + "?prefx=a", "unknown parameter"},
		"a file without TLS":       {"redis://" + srv.Addr + "?ca=/tmp/x", "tls=true"},
		"a certificate, no key":    {"rediss://" + srv.Addr + "?cert=/tmp/x", "go together"},
		"no such file":             {"rediss://" + srv.Addr + "?ca=/nowhere/x", "parameter ca"},
		"half a replica":           {"redis://" + srv.Addr + "?replicas=0.5", "whole number"},
		"fewer than no replicas":   {"redis://" + srv.Addr + "?replicas=-1", "Replicas is -1"},
		"no time for replicas":     {within + "0s", "replicaswithin: it should"},
		"too short a time":         {within + "10us", "ReplicasWithin is 10µs"},
		"a time to keep":           {"redis://" + srv.Addr + "?keep=2m", ""},
		"too short a time to keep": {"redis://" + srv.Addr + "?keep=59s", "keep: it should be 1m0s or more"},
		"nothing kept":             {"redis://" + srv.Addr + "?keep=0s", "keep: it should be 1m0s or more"},
		"time to connect":          {"redis://" + srv.Addr + "?connecttimeout=20s", ""},
		"no time to connect":       {"redis://" + srv.Addr + "?connecttimeout=0s", "connecttimeout: it should be 1ms"},
		"a name without TLS":       {"redis://" + srv.Addr + "?servername=redis.example", "servername are for TLS"},
		"replicas of others":       {"redis://" + srv.Addr + "?replicas=1&layout=redisson", "leave replicas out"},
		"sentinels, no master":     {"redis-sentinel://" + srv.Addr, "name of their master"},
		"sentinels that are none":  {"redis-sentinel://" + srv.Addr + "/mymaster", "unknown command"},
		"a cluster with databases": {"redis-cluster://" + srv.Addr + "/1", "one database"},
		"a cluster that is none":   {"redis-cluster://" + srv.Addr, "not part of a cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := drivertest.Open(t.Context(), tt.url)
			if d != nil {
				t.Cleanup(func() { d.Close() })
			}
			switch {
			case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "a:b"):
				t.Errorf("the error shows the password: %v", err)
			case err == nil:
				release(t, d, acquire(t, d, claim(name, long)))
			}
		})
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours := servers.NewAuthority(t)
	own := ours.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1", "redis.example"}})
	_, port, _ := net.SplitHostPort(servers.FreeAddr(t))
	srv := servers.Redis(t,
		"--tls-port", port, "--tls-cert-file", own.Cert, "--tls-key-file", own.Key, "--tls-ca-cert-file", ours.File)
	files := "ca=" + ours.File + "&cert=" + own.Cert + "&key=" + own.Key
	for name, tt := range map[string]struct {
		url   string
		opens bool
	}{
		"certificates of both":    {"rediss://127.0.0.1:" + port + "?" + files, true},
		"the same as a parameter": {"redis://127.0.0.1:" + port + "?tls=true&" + files, true},
		"by the server's name":    {"rediss://localhost:" + port + "?servername=redis.example&" + files, true},
		"by another name":         {"rediss://localhost:" + port + "?" + files, false},
		"under another name":      {"rediss://127.0.0.1:" + port + "?servername=other.example&" + files, false},
		"no certificate of ours":  {"rediss://127.0.0.1:" + port + "?ca=" + ours.File, false},
		"an unknown authority":    {"rediss://127.0.0.1:" + port, false},
		"a server without":        {"rediss://" + srv.Addr, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := drivertest.Open(t.Context(), tt.url)
			if (err == nil) != tt.opens {
				t.Fatalf("opened: %v, %v; want %v", err == nil, err, tt.opens)
			}
			if d != nil {
				t.Cleanup(func() { d.Close() })
				release(t, d, acquire(t, d, claim(name, long)))
			}
		})
	}
}

// Certificates are renewed while a program runs, which needs them when it connects again.
func TestCertificateIsReadAnew(t *testing.T) {
	t.Parallel()
	ours, next := servers.NewAuthority(t), servers.NewAuthority(t)
	own := ours.Certify(t, servers.Identity{Name: "a test"})
	server := ours.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}})
	_, port, _ := net.SplitHostPort(servers.FreeAddr(t))
	srv := servers.Redis(t, "--tls-port", port,
		"--tls-cert-file", server.Cert, "--tls-key-file", server.Key, "--tls-ca-cert-file", ours.File)
	d, err := drivertest.Open(t.Context(),
		"rediss://127.0.0.1:"+port+"?ca="+ours.File+"&cert="+own.Cert+"&key="+own.Key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	held := acquire(t, d, claim("job", long))
	srv.RedisCommand(t, "CONFIG", "SET", "tls-ca-cert-file", next.File) // what ours has certified is refused now
	next.Renew(t, own, servers.Identity{Name: "a test"})
	srv.RedisCommand(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err = driver.ErrUnknown; err != nil && ctx.Err() == nil; { // the first may still go over the dead connection
		_, err = d.Request(ctx, held)
	}
	if err != nil {
		t.Errorf("with the new certificate: %v", err)
	}
}

// What is remembered of a lock that nobody uses is kept for as long as the URL says.
func TestKeepInURL(t *testing.T) {
	srv := servers.Redis(t)
	for params, most := range map[string]int{"": 600_000, "?keep=2m": 120_000, "?keep=3h": 3 * 3_600_000} {
		srv.RedisCommand(t, "FLUSHALL")
		d := openAt(t, srv.Addr, params)
		release(t, d, acquire(t, d, claim("jobs", time.Second)))
		if left := number(t, srv.RedisCommand(t, "PTTL", "holdfast:{jobs}:claims")); left > most || left < most/2 {
			t.Errorf("%q: kept for %d ms, want %d", params, left, most)
		}
	}
}

// A server that accepts a connection and says nothing is given up when the time to connect is over.
func TestConnectTimeout(t *testing.T) {
	p := proxy.New(t, servers.Redis(t).Addr)
	p.BlackHole()
	pace.Run(t, "in time", func(t *pace.T) {
		limit := t.Scaled(4 * time.Second) // less than a silent connection is given otherwise
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := drivertest.Open(ctx, "redis://"+p.Addr+"?connecttimeout=100ms")
		if err == nil || !strings.Contains(err.Error(), "nothing came within 100ms of connecting") {
			t.Errorf("got %v, and of the context %v; want an error before that ends", err, ctx.Err())
		}
	})
}
