package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// examineWay tells what others could read or do on the way to the backend: by the URL, and by the files that hold
// secrets.
func (b *backendFlags) examineWay(u *url.URL) []driver.Finding {
	findings := b.examineFiles(u)
	far := farHosts(u)
	if len(far) == 0 { // what stays on this machine needs none of that
		return findings
	}
	to := strings.Join(far, ", ")
	switch {
	case !isEncrypted(u):
		findings = append(findings, driver.Finding{Level: driver.Warning, Fact: "connections to " + to +
			" are not encrypted, or need not be", Advice: encryption[u.Scheme] +
			": who listens on the way reads passwords, and who writes there takes locks"})
	default:
		findings = append(findings, driver.Finding{Fact: "connections to " + to + " are encrypted"})
	}
	return findings
}

// examineLogin tells of a backend on another machine that let us in without knowing who we are.
func examineLogin(u *url.URL) []driver.Finding {
	if len(farHosts(u)) == 0 || isAuthenticated(u) {
		return nil
	}
	return []driver.Finding{{Level: driver.Warning,
		Fact:   "the URL has neither a password nor a client's certificate, and the backend lets us in",
		Advice: "set a user and a password: whoever reaches the backend can take and break all locks"}}
}

// farHosts are those hosts of a URL that are not this machine. PostgreSQL has a parameter that takes their place, and
// may be the folder of a socket.
func farHosts(u *url.URL) (far []string) {
	if instead := u.Query().Get("host"); instead != "" {
		u = &url.URL{Host: instead}
	}
	for _, host := range driver.Hosts(u, "0") {
		name, _, err := net.SplitHostPort(host)
		if err == nil && !isLoopback(name) && !strings.HasPrefix(name, "/") && !slices.Contains(far, name) {
			far = append(far, name)
		}
	}
	return far
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// encryption is how to encrypt connections, by the scheme of the URL.
var encryption = map[string]string{
	"redis": "use rediss://", "redis-sentinel": "set tls=true in the URL", "redis-cluster": "set tls=true in the URL",
	"redlock": "set tls=true in the URL", "etcd": "set tls=true in the URL", "mysql": "set tls=true in the URL",
	"postgres": "set sslmode=verify-full in the URL", "zk": "set tls=true in the URL",
}

// isEncrypted reports whether connections are encrypted, always, and with the server that was meant.
func isEncrypted(u *url.URL) bool {
	q := u.Query()
	switch u.Scheme {
	case "rediss":
		return true
	case "postgres":
		return q.Get("sslmode") == "verify-full" || q.Get("sslmode") == "verify-ca" ||
			q.Get("sslmode") == "require" && q.Has("sslrootcert")
	case "etcd", "mysql":
		return isTrue(q.Get("tls")) || q.Has("ca") || q.Has("cert")
	default:
		return isTrue(q.Get("tls"))
	}
}

// isTrue reads a parameter as [driver.Params] does.
func isTrue(value string) bool {
	return slices.Contains([]string{"1", "t", "true"}, strings.ToLower(value))
}

// isAuthenticated reports whether we show the backend who we are. A database with a user does its own.
func isAuthenticated(u *url.URL) bool {
	named := u.User.Username() != "" && hasTables(u.Scheme)
	return named || hasPassword(u) || u.Query().Has("cert") || u.Query().Has("sslcert")
}

// examineFiles tells of files with secrets that every user of the machine can read.
func (b *backendFlags) examineFiles(u *url.URL) (findings []driver.Finding) {
	var secret []string
	if b.file != "" && hasPassword(u) {
		secret = append(secret, b.file)
	}
	for _, name := range []string{"key", "sslkey", "passfile"} {
		if path := u.Query().Get(name); path != "" {
			secret = append(secret, path)
		}
	}
	for _, path := range secret {
		if info, err := os.Stat(path); err == nil && isOpen(info.Mode()) {
			findings = append(findings, driver.Finding{Level: driver.Warning,
				Fact: fmt.Sprintf("%s holds a secret, and every user of this machine can read it (mode %04o)", path,
					info.Mode().Perm()), Advice: "chmod 600 it, and change the secret"})
		}
	}
	return findings
}

// isOpen reports whether a mode is for all users. Windows has none.
func isOpen(mode fs.FileMode) bool { return mode.Perm()&0o004 != 0 && runtime.GOOS != "windows" }

// trustAdvice is what to do about a server's certificate that is not trusted, or "".
func trustAdvice(u *url.URL, err error) string {
	authority, name := "ca=", "name one of those as servername= in the URL"
	if u.Scheme == "postgres" {
		authority, name = "sslrootcert=", "set sslmode=verify-ca in the URL"
	}
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the server's certificate, or set this machine's clock; no lock can be taken until then"
	case errors.As(err, &unknown):
		return "name the file with the certificate of the server's authority as " + authority + " in the URL, if you " +
			"know whose it is"
	case errors.As(err, &other):
		return "use a host that the server's certificate is for, or " + name
	default:
		return ""
	}
}
