package engine

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// Redis is a Redis server that runs already.
type Redis struct {
	addr    string
	version string
	client  rueidis.Client
}

// DialRedis connects to a server, to ask what it costs.
func DialRedis(ctx context.Context, addr string) (*Redis, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		return nil, err
	}
	e := &Redis{addr: addr, client: client}
	if e.version, err = e.info(ctx, "server", "redis_version"); err != nil {
		client.Close()
		return nil, err
	}
	return e, nil
}

// Addr returns host and port.
func (e *Redis) Addr() string { return e.addr }

// Version returns the product and its version.
func (e *Redis) Version() string { return "Redis " + e.version }

// CPU adds the two numbers of INFO, which count microseconds.
func (e *Redis) CPU(ctx context.Context) (time.Duration, error) {
	user, err := e.seconds(ctx, "used_cpu_user")
	if err != nil {
		return 0, err
	}
	system, err := e.seconds(ctx, "used_cpu_sys")
	return user + system, err
}

// Close ends the connection, not the server.
func (e *Redis) Close() error {
	e.client.Close()
	return nil
}

func (e *Redis) seconds(ctx context.Context, field string) (time.Duration, error) {
	text, err := e.info(ctx, "cpu", field)
	if err != nil {
		return 0, err
	}
	s, err := strconv.ParseFloat(text, 64)
	return time.Duration(s * float64(time.Second)), err
}

// info returns a field of what INFO says.
func (e *Redis) info(ctx context.Context, section, field string) (string, error) {
	text, err := e.client.Do(ctx, e.client.B().Info().Section(section).Build()).ToString()
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^` + field + `:(.*?)\r?$`).FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("INFO %s has no %s", section, field)
	}
	return found[1], nil
}
