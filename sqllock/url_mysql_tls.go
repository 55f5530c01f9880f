package sqllock

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// registerTLS is what RegisterTLS was given.
var registerTLS struct {
	sync.Mutex
	with func(name string, config *tls.Config) error
}

// RegisterTLS says how to give a TLS configuration to the SQL driver of mysql:// URLs. The parameters ca, cert, key and
// servername need that, because the SQL driver knows none of them:
//
//	sqllock.RegisterTLS(mysql.RegisterTLSConfig) // of github.com/go-sql-driver/mysql
//
// Call it once, before such a URL is opened. It may be called at any time. The command holdfast calls it.
func RegisterTLS(register func(name string, config *tls.Config) error) {
	registerTLS.Lock()
	defer registerTLS.Unlock()
	registerTLS.with = register
}

// mysqlTLS are the parameters of a mysql:// URL that are about TLS.
type mysqlTLS struct{ mode, ca, cert, key, server string }

func parseMySQLTLS(p *driver.Params) mysqlTLS {
	return mysqlTLS{
		mode: p.String("tls", ""), ca: p.String("ca", ""), cert: p.String("cert", ""), key: p.String("key", ""),
		server: p.String("servername", ""),
	}
}

// value is what the SQL driver is told: its own word, or the name of a configuration.
func (m mysqlTLS) value() (string, error) {
	isPlain := m == mysqlTLS{mode: m.mode}
	switch m.mode {
	case "", "true":
	case "false", "skip-verify", "preferred":
		if !isPlain {
			return "", fmt.Errorf("the parameters ca, cert, key and servername are for tls=true,"+
				" and not for tls=%s, which does not verify the server", m.mode)
		}
	default:
		return "", fmt.Errorf("parameter tls: it should be true, skip-verify, preferred or false, not %q", m.mode)
	}
	if isPlain {
		return cmp.Or(m.mode, "false"), nil
	}
	return m.register()
}

// register registers a configuration under a name that others with the same files get, too.
func (m mysqlTLS) register() (name string, err error) {
	config, text, err := m.config()
	if err != nil {
		return "", err
	}
	registerTLS.Lock()
	defer registerTLS.Unlock()
	if registerTLS.with == nil {
		return "", errors.New("the parameters ca, cert, key and servername need a program that calls" +
			" sqllock.RegisterTLS(mysql.RegisterTLSConfig)")
	}
	sum := sha256.Sum256(text)
	name = "holdfast-" + hex.EncodeToString(sum[:])
	return name, registerTLS.with(name, config)
}

// config is a configuration, and all that it is made of.
func (m mysqlTLS) config() (config *tls.Config, text []byte, err error) {
	config, text = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: m.server}, []byte(m.server+"\x00")
	if m.ca != "" {
		authorities, pem, err := pemfile.Authorities(m.ca)
		if err != nil {
			return nil, nil, err
		}
		config.RootCAs, text = authorities, append(text, pem...)
	}
	if err := pemfile.Together(m.cert, m.key); err != nil {
		return nil, nil, err
	}
	text = append(text, "\x00"+m.cert+"\x00"+m.key...) // which are read again for each connection
	return config, text, pemfile.Present(config, m.cert, m.key)
}
