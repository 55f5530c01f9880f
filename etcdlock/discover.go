package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Services by which DNS knows etcd servers; the second is for those that speak TLS.
const (
	plainService  = "etcd-client"
	secureService = "etcd-client-ssl"
)

// lookUp returns the servers of a domain, from its DNS records of the type SRV: _etcd-client._tcp.<domain>, or
// _etcd-client-ssl._tcp.<domain> if secure is true, for servers that speak TLS.
func lookUp(ctx context.Context, resolver *net.Resolver, domain string, secure bool) (endpoints []string, err error) {
	service := plainService
	if secure {
		service = secureService
	}
	_, records, err := resolver.LookupSRV(ctx, service, "tcp", domain)
	if err != nil {
		return nil, fmt.Errorf("look up the etcd servers of %s: %w", domain, err)
	}
	for _, r := range records {
		endpoints = append(endpoints, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
	}
	return endpoints, nil
}

// discover looks up the servers of the domain that is the host of an URL.
func discover(ctx context.Context, u *url.URL, secure bool) ([]string, error) {
	if len(driver.Hosts(u, "2379")) != 1 || u.Port() != "" {
		return nil, errors.New(
			"with srv=true the URL should have one domain, and no port, like etcd://example.com?srv=true")
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return lookUp(ctx, net.DefaultResolver, u.Hostname(), secure)
}
