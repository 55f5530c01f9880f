package etcdlock

import (
	"crypto/tls"
	"errors"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// encrypt makes the clients of a configuration speak TLS with these files, of which the authorities are read once, now.
func encrypt(config *clientv3.Config, files pemfile.Files) (err error) {
	if config.TLS, err = files.Config(true, ""); err != nil {
		return err
	}
	if files.Server != "" { // else every connection asks for the host of its address
		config.DialOptions = append(config.DialOptions, grpc.WithAuthority(files.Server))
	}
	return files.Load(config.TLS)
}

// hint names the files, for an error that is about them.
func hint(files pemfile.Files) string {
	about := ""
	if files.CA != "" {
		about += "; the authorities are those in " + files.CA
	}
	if files.Cert != "" {
		about += "; the client's certificate is " + files.Cert
	}
	if files.Server != "" {
		about += "; the servers should be called " + files.Server
	}
	return about
}

// isAboutTLS reports whether the two sides did not agree. gRPC hands on no more than the text of such an error.
func isAboutTLS(err error) bool {
	return err != nil && (errors.As(err, new(*tls.CertificateVerificationError)) ||
		strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), "x509: "))
}
