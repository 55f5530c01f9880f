package holdfast

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// storeOf names the store that a URL leads to: in the same way in each process that has the same URL, whatever its
// password, and in whatever order it names hosts and parameters. It is for comparing, and never shown.
func storeOf(u *url.URL) string {
	hosts := strings.Split(strings.ToLower(u.Host), ",")
	slices.Sort(hosts)
	named := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: strings.Join(hosts, ","), Path: u.Path, RawQuery: u.Query().Encode()}
	if u.User != nil {
		named.User = url.User(u.User.Username()) // it may choose the schema
	}
	return named.String()
}

// sameStore reports whether two clients are known to be of one store.
func (c *Client) sameStore(other *Client) bool {
	return c == other || c.store != "" && c.store == other.store || sameDriver(c.driver, other.driver)
}

func sameDriver(d, e driver.Driver) bool {
	return reflect.ValueOf(d).Comparable() && reflect.ValueOf(e).Comparable() && d == e
}
