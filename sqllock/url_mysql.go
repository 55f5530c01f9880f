package sqllock

import (
	"errors"
	"net/url"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// mysqlParameters are passed on to the SQL driver as they are. Its other parameters would change what statements
// return.
var mysqlParameters = []string{"allowCleartextPasswords", "allowNativePasswords", "connectionAttributes"}

// mysqlSource is user:password@protocol(address)/database?parameters.
func mysqlSource(a address, p *driver.Params) (string, error) {
	place, socket := "tcp("+a.hosts+")", p.String("socket", "")
	if socket != "" {
		place = "unix(" + socket + ")"
	}
	q := passOn(p, mysqlParameters)
	q.Set("timeout", a.connect.String())
	secure, err := mysqlTLS(p.String("tls", ""), pemfile.Named(p.String))
	q.Set("tls", secure)
	password, _ := a.url.User.Password()
	switch {
	case socket != "" && a.url.Host != "":
		err = errors.Join(err, errors.New("the URL should have either a host or the parameter socket"))
	case strings.Contains(a.hosts, ","):
		err = errors.Join(err, errors.New("name one host: the SQL driver for MySQL takes no more"))
	case strings.Contains(a.url.User.Username(), ":"):
		err = errors.Join(err, errors.New("the SQL driver for MySQL takes no user with a colon in the name"))
	}
	database := url.PathEscape(databaseOf(a.url))
	return a.url.User.Username() + ":" + password + "@" + place + "/" + database + "?" + q.Encode(), err
}
