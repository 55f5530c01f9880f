package redislock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// openNative opens a driver.
func openNative(t *testing.T, addr string) *QueueDriver {
	t.Helper()
	return openWith(t, addr, nil)
}

// rewrite gives the state of a lock another format, as a program of another version would have.
func rewrite(t *testing.T, srv *servers.Server, d *QueueDriver, name string, format int) (state string) {
	t.Helper()
	k, err := d.keys.of(name)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(srv.RedisCommand(t, "HGET", k.claims, stateField), " ")
	if !ok {
		t.Fatalf("%s has no state", name)
	}
	state = strconv.Itoa(format) + " " + rest
	srv.RedisCommand(t, "HSET", k.claims, stateField, state)
	return state
}

func openWith(t *testing.T, addr string, opts *Options) *QueueDriver {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, DisableRetry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	d, err := New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return QueueOf(d)
}

func mutex(name, id string) driver.Claim {
	return driver.Claim{Name: name, ID: id, Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
}

// TestOtherFormatIsRefused: what a program of another version has stored is neither read nor changed, and the error
// says what to do.
func TestOtherFormatIsRefused(t *testing.T) {
	srv := servers.Redis(t)
	ctx := t.Context()
	d := openNative(t, srv.Addr)
	for name, prepare := range map[string]func(name string){
		"idle": func(name string) {
			if err := d.Release(ctx, claimed.Acquire(t, d, mutex(name, "gone"))); err != nil {
				t.Fatal(err)
			}
		},
		"held": func(name string) { claimed.Acquire(t, d, mutex(name, "first")) },
		"queue": func(name string) {
			claimed.Acquire(t, d, mutex(name, "first"))
			waiting(t, d, mutex(name, "second"))
		},
	} {
		for _, other := range []int{format - 1, format + 1} {
			t.Run(fmt.Sprint(name, " of format ", other), func(t *testing.T) {
				lock := t.Name()
				prepare(lock)
				state := rewrite(t, srv, d, lock, other)
				_, errRequest := d.Request(ctx, mutex(lock, "late"))
				_, errQueue := d.Queue(ctx, lock)
				for verb, err := range map[string]error{
					"request": errRequest, "queue": errQueue, "release": d.Release(ctx, mutex(lock, "first")),
				} {
					if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "same version") {
						t.Errorf("%s: %v, want ErrRefused that says what to do", verb, err)
					}
				}
				k, _ := d.keys.of(lock)
				if got := srv.RedisCommand(t, "HGET", k.claims, stateField); got != state {
					t.Errorf("the state became %q, want %q", got, state)
				}
			})
		}
	}
}

// TestOtherFormatOfAValueIsRefused is the same for the value that a lock keeps between its holders.
func TestOtherFormatOfAValueIsRefused(t *testing.T) {
	srv := servers.Redis(t)
	ctx := t.Context()
	d := openNative(t, srv.Addr)
	c := claimed.Acquire(t, d, mutex("jobs", "first"))
	v := driver.Value{Text: "done", Token: c.Token, Set: time.UnixMicro(1)}
	if err := d.SetValue(ctx, c, v); err != nil {
		t.Fatal(err)
	}
	k, err := d.keys.of("jobs")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(srv.RedisCommand(t, "GET", k.value), " ")
	srv.RedisCommand(t, "SET", k.value, "2 "+rest)
	_, errGet := d.Value(ctx, "jobs")
	for verb, err := range map[string]error{"get": errGet, "set": d.SetValue(ctx, c, v)} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "same version") {
			t.Errorf("%s: %v, want ErrRefused that says what to do", verb, err)
		}
	}
}

func ids(queue []driver.Entry) (ids []string) {
	for _, e := range queue {
		ids = append(ids, fmt.Sprint(e.ID, e.Token, e.Granted))
	}
	return ids
}

// Tokens exceed what Lua prints by itself: every digit must survive, in all ways that a token can take.
func TestTokensAreExact(t *testing.T) {
	srv := servers.Redis(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	d := openNative(t, srv.Addr)
	for i, token := range []uint64{1, 999_999_999_999_999, 1_795_233_764_298_401, 1_795_233_764_298_499} {
		name := "lock " + strconv.Itoa(i)
		c := mutex(name, "a")
		if st, _, err := d.Propose(ctx, c, token); err != nil || st.Token != token {
			t.Fatalf("proposing %d: %+v, %v", token, st, err)
		}
		next, other := mutex(name, "b"), mutex(name, "c")
		st, err := d.Request(ctx, next)
		if err != nil || st.Token <= token {
			t.Fatalf("after %d: %+v, %v", token, st, err)
		}
		later, err := d.Request(ctx, other)
		if err != nil || later.Token <= st.Token {
			t.Errorf("after %d: %+v, %v", st.Token, later, err)
		}
		queue, err := d.Queue(ctx, name)
		if err != nil || len(queue) != 3 ||
			queue[0].Token != token || queue[1].Token != st.Token || queue[2].Token != later.Token {
			t.Errorf("the queue shows %v, %v", ids(queue), err)
		}
		c.Token = token
		if err := d.Release(ctx, c); err != nil {
			t.Errorf("releasing under the token %d: %v", token, err)
		}
		pushed, err := d.Wait(ctx, next)
		if err != nil || pushed.Token != st.Token {
			t.Errorf("pushed %+v, %v; want the token %d", pushed, err, st.Token)
		}
	}
	if _, _, err := d.Propose(ctx, mutex("far", "a"), math.MaxInt64); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a token that scripts cannot count: %v", err)
	}
	far := uint64(time.Now().Add(time.Hour).UnixMicro())
	if _, _, err := d.Propose(ctx, mutex("far", "a"), far); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a token from the future: %v", err)
	}
}

// When the clock is set back, tokens still grow.
func TestClockSetBack(t *testing.T) {
	srv := servers.Redis(t)
	ctx := context.Background()
	d := openNative(t, srv.Addr)
	ahead := uint64(time.Now().Add(5 * time.Minute).UnixMicro()) // what it said before
	c := mutex("jobs", "a")
	if st, _, err := d.Propose(ctx, c, ahead); err != nil || st.Token != ahead {
		t.Fatal(st, err)
	}
	if err := d.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c := mutex("jobs", "b"+strconv.Itoa(i))
		st, err := d.Request(ctx, c)
		if err != nil || st.Token != ahead+uint64(i)+1 {
			t.Errorf("token %d, want %d: %v", st.Token, ahead+uint64(i)+1, err)
		}
		if err := d.Release(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
}
