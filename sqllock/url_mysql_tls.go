package sqllock

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// registerTLS is what RegisterTLS was given.
var registerTLS atomic.Pointer[func(name string, config *tls.Config) error]

// RegisterTLS says how to give a TLS configuration to the SQL driver of mysql:// URLs. The parameters ca, cert, key and
// servername need that, because the SQL driver knows none of them:
//
//	sqllock.RegisterTLS(mysql.RegisterTLSConfig) // of github.com/go-sql-driver/mysql
//
// Call it once, before such a URL is opened. It may be called at any time. The command holdfast calls it.
func RegisterTLS(register func(name string, config *tls.Config) error) {
	registerTLS.Store(&register)
}

// mysqlTLS is what the SQL driver is told of the parameter tls and the files that a URL names: its own word, or the
// name of a configuration.
func mysqlTLS(mode string, files pemfile.Files) (string, error) {
	namesFiles := files != pemfile.Files{}
	switch mode {
	case "", "true":
		if namesFiles {
			return register(files)
		}
		return cmp.Or(mode, "false"), nil
	case "false", "skip-verify", "preferred":
		if namesFiles {
			return "", fmt.Errorf("the parameters ca, cert, key and servername are for tls=true,"+
				" and not for tls=%s, which does not verify the server", mode)
		}
		return mode, nil
	}
	return "", fmt.Errorf("parameter tls: it should be true, skip-verify, preferred or false, not %q", mode)
}

// register registers a configuration under a name that others with the same files get, too. The SQL driver takes a copy
// when it is given a name.
func register(files pemfile.Files) (name string, err error) {
	config, err := files.Config(true, "")
	if err == nil {
		err = files.Load(config)
	}
	if err != nil {
		return "", err
	}
	with := registerTLS.Load()
	if with == nil || *with == nil {
		return "", errors.New("the parameters ca, cert, key and servername need a program that calls" +
			" sqllock.RegisterTLS(mysql.RegisterTLSConfig)")
	}
	name = fmt.Sprintf("holdfast %q", files)
	return name, (*with)(name, config)
}
