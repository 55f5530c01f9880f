package main

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

func TestExamineWay(t *testing.T) {
	const plain, open = "not encrypted", "neither a password"
	for rawURL, want := range map[string][]string{
		"redis://localhost:6379":                                   nil,
		"redis://127.0.0.1,[::1]:1,127.8.8.8":                      nil,
		"redis+unix:///run/redis.sock":                             nil,
		"file:/var/lib/locks.db":                                   nil,
		"redis://cache.example":                                    {plain, open},
		"redis://:pw@cache.example":                                {plain},
		"redis://:pw@cache.example?tls=true":                       nil,
		"redis://:pw@cache.example?tls=false":                      {plain},
		"rediss://cache.example":                                   {open},
		"rediss://cache.example?cert=a&key=b":                      nil,
		"redis-sentinel://s1,s2/m?sentinelpassword=x":              {plain},
		"redlock://localhost,127.0.0.1:2,far.example":              {plain, open},
		"redlock://u:p@a,b,c?tls=true":                             nil,
		"etcd://u:p@10.0.0.1?ca=x":                                 nil,
		"etcd://10.0.0.1":                                          {plain, open},
		"zk://u:p@10.0.0.1":                                        {plain},
		"zk://u:p@10.0.0.1?tls=true":                               nil,
		"mysql://u@db/jobs":                                        {plain},
		"mysql://u@db/jobs?tls=preferred":                          {plain},
		"mysql://u:p@db/jobs?ca=ca.pem":                            nil,
		"mysql://u:p@db/jobs?tls=true":                             nil,
		"postgres://u:p@db/jobs":                                   {plain},
		"postgres://u:p@db/jobs?sslmode=require":                   {plain},
		"postgres://u:p@db/jobs?sslmode=verify-full&sslrootcert=x": nil,
		"postgres://u:p@db/jobs?sslmode=require&sslrootcert=x":     nil,
		"postgres://u:p@localhost/jobs?sslmode=disable":            nil,
		"postgres://u:p@localhost/jobs?host=far.example":           {plain},
		"postgres://u:p@/jobs?host=far.example,127.0.0.1":          {plain},
		"postgres://u:p@far.example/jobs?host=/run/postgresql":     nil,
	} {
		u, err := driver.ParseURL(rawURL)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range slices.Concat(new(backendFlags).examineWay(u), examineLogin(u)) {
			if f.Level != driver.Fine {
				got = append(got, f.Fact)
			}
			if (f.Level == driver.Fine) != (f.Advice == "") || strings.HasPrefix(f.Advice, ":") {
				t.Errorf("%s: what is not well needs advice, and nothing else does: %+v", rawURL, f)
			}
		}
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s: got %q, want %q", rawURL, got, want)
		}
	}
}

// Doctor tells of a secret in a file that every user can read, and does not show the secret.
func TestDoctorFindsOpenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(path, []byte("redis://user:geheim@127.0.0.1:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, open := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o604: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		out, said, _ := whole(t, "doctor", "--backend-file", path)
		if strings.Contains(out, "every user of this machine can read it") != open ||
			strings.Contains(out+said, "geheim") {
			t.Errorf("mode %04o: doctor prints %q, says %q", mode, out, said)
		}
	}
}

// So it does of one that a parameter of the URL names.
func TestDoctorFindsOpenPassfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(path, []byte("*:*:*:*:geheim"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, _ := whole(t, "doctor", "--backend", "postgres://user@127.0.0.1:1/jobs?passfile="+path)
	if !strings.Contains(out, path+" holds a secret, and every user of this machine can read it") {
		t.Errorf("doctor prints %q", out)
	}
}

// The advice about a certificate that is not trusted depends on what is wrong with it, and on the parameters that there
// are.
func TestTrustAdvice(t *testing.T) {
	t.Parallel()
	unknown, other := x509.UnknownAuthorityError{}, x509.HostnameError{Certificate: &x509.Certificate{}, Host: "b"}
	for _, c := range []struct {
		scheme string
		err    error
		says   string
	}{
		{"etcd", unknown, "ca= in the URL"}, {"postgres", unknown, "sslrootcert= in the URL"},
		{"etcd", other, "servername= in the URL"}, {"postgres", other, "sslmode=verify-ca in the URL"},
	} {
		got := trustAdvice(&url.URL{Scheme: c.scheme}, fmt.Errorf("open: %w", c.err))
		if !strings.Contains(got, c.says) {
			t.Errorf("%s, %v: %q", c.scheme, c.err, got)
		}
	}
	if got := trustAdvice(&url.URL{Scheme: "etcd"}, io.EOF); got != "" {
		t.Errorf("of another error: %q", got)
	}
}
