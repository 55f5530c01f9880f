package redislock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// version opens a driver that writes records of this format.
func version(t *testing.T, addr string, format int) *native {
	t.Helper()
	return openWith(t, addr, &Options{format: format})
}

// earlier opens a driver with the scripts of an earlier version, which wrote records of the same format.
func earlier(t *testing.T, addr string) *native {
	t.Helper()
	return openWith(t, addr, &Options{sources: orToday{os.DirFS("testdata/earlier")}})
}

// orToday is the files of an earlier version, and today's for scripts that it did not have.
type orToday struct{ fs.FS }

func (o orToday) Open(name string) (fs.File, error) {
	file, err := o.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return sources.Open(name)
	}
	return file, err
}

func openWith(t *testing.T, addr string, opts *Options) *native {
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

// Two versions work side by side: the newer reads what the older wrote, the older refuses what the newer wrote, and
// so does one that is two versions newer.
func TestTwoFormats(t *testing.T) {
	srv := servers.Redis(t)
	ctx := context.Background()
	older, newer, newest := version(t, srv.Addr, format), version(t, srv.Addr, format+1), version(t, srv.Addr, format+2)
	for name, prepare := range map[string]func(name string){
		"idle": func(name string) {
			c := mutex(name, "gone")
			if _, err := older.Request(ctx, c); err != nil {
				t.Fatal(err)
			}
			if err := older.Release(ctx, c); err != nil {
				t.Fatal(err)
			}
		},
		"held": func(name string) {
			if _, err := older.Request(ctx, mutex(name, "first")); err != nil {
				t.Fatal(err)
			}
		},
		"queue": func(name string) {
			for _, id := range []string{"first", "second"} {
				if _, err := older.Request(ctx, mutex(name, id)); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			prepare(name)
			before, err := older.Queue(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := newest.Request(ctx, mutex(name, "newest")); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("two versions newer: %v, want ErrRefused", err)
			}
			after, err := newer.Queue(ctx, name)
			if err != nil || fmt.Sprint(ids(after)) != fmt.Sprint(ids(before)) {
				t.Errorf("the newer reads %v (%v), the older wrote %v", ids(after), err, ids(before))
			}
			last := mutex(name, "last")
			st, err := newer.Request(ctx, last)
			if err != nil || st.Granted != (len(before) == 0) {
				t.Fatalf("the newer requests: %+v, %v", st, err)
			}
			_, err = older.Request(ctx, mutex(name, "late"))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "same version") {
				t.Errorf("the older meets what the newer wrote: %v, want ErrRefused that says what to do", err)
			}
			for _, e := range before {
				if err := newer.Release(ctx, e.Claim); err != nil {
					t.Errorf("the newer releases what the older wrote: %v", err)
				}
			}
			if st, err := newer.Request(ctx, last); err != nil || !st.Granted {
				t.Errorf("the newer is granted: %+v, %v", st, err)
			}
		})
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
	d := version(t, srv.Addr, format)
	for i, token := range []uint64{1, 999_999_999_999_999, 1_795_233_764_298_401, 1_795_233_764_298_499} {
		name := "lock " + strconv.Itoa(i)
		c := mutex(name, "a")
		if st, err := d.Propose(ctx, c, token); err != nil || st.Token != token {
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
	if _, err := d.Propose(ctx, mutex("far", "a"), math.MaxInt64); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a token that scripts cannot count: %v", err)
	}
	far := uint64(time.Now().Add(time.Hour).UnixMicro())
	if _, err := d.Propose(ctx, mutex("far", "a"), far); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a token from the future: %v", err)
	}
}

// When the clock is set back, tokens still grow.
func TestClockSetBack(t *testing.T) {
	srv := servers.Redis(t)
	ctx := context.Background()
	d := version(t, srv.Addr, format)
	ahead := uint64(time.Now().Add(5 * time.Minute).UnixMicro()) // what it said before
	c := mutex("jobs", "a")
	if st, err := d.Propose(ctx, c, ahead); err != nil || st.Token != ahead {
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
