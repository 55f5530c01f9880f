package etcdfence_test

import (
	"context"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/etcdfence"
	"github.com/holdfast-go/holdfast/internal/fencetest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// connect starts a server.
func connect(t *testing.T) *clientv3.Client {
	t.Helper()
	address = servers.Etcd(t).Addr
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func value(t *testing.T, client *clientv3.Client, key string) string {
	t.Helper()
	answer, err := client.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Kvs) == 0 {
		return ""
	}
	return string(answer.Kvs[0].Value)
}

func TestDo(t *testing.T) {
	client := connect(t)
	r := fencetest.Trial{T: t, Use: func(resource string, token uint64) error {
		want := fence.Format(token)
		before := value(t, client, "data")
		answer, err := etcdfence.Do(t.Context(), client, resource, token,
			clientv3.OpPut("data", want), clientv3.OpGet("data"))
		if err != nil {
			want = before
		}
		if got := value(t, client, "data"); got != want {
			t.Errorf("after token %d for %q the data is %q, want %q", token, resource, got, want)
		}
		if err == nil && string(answer.Responses[1].GetResponseRange().Kvs[0].Value) != want {
			t.Errorf("the second answer is not that to the second operation: %v", answer.Responses)
		}
		return err
	}}
	r.Admits("a", 9)
	r.Admits("a", 9)
	r.Admits("a", 10) // which is less than 9 as text
	r.Refuses("a", 9)
	r.Admits("a/b", 5) // another resource
	r.Admits("", 5)
	r.Admits("a", 1<<53+1)
	r.Refuses("a", 1<<53)
	r.Admits("a", fence.MaxToken)
	r.Refuses("a", fence.MaxToken-1)
	for _, wrong := range []uint64{0, fence.MaxToken + 1} {
		if _, err := etcdfence.Do(t.Context(), client, "a", wrong); err == nil || errors.Is(err, fence.ErrStale) {
			t.Errorf("token %d: %v", wrong, err)
		}
		_, err := etcdfence.Find(t.Context(), client, "/holdfast", "a", wrong)
		if err == nil || errors.Is(err, fence.ErrStale) {
			t.Errorf("token %d of a lock: %v", wrong, err)
		}
	}
}

// A write under a lock is done while it is held, and refused from then on.
func TestHeld(t *testing.T) {
	client := connect(t)
	first, err := lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, first.Token(), nil)
	second, err := takeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, first.Token(), fence.ErrStale)
	write(t, client, second.Token(), nil)
	if err := second.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, client, second.Token(), fence.ErrStale)
}

// A lock is found under its prefix however that is written, in both layouts, and not as one whose name
// its name begins with.
func TestFind(t *testing.T) {
	client := connect(t)
	type finder = func(context.Context, clientv3.KV, string, string, uint64) (*etcdfence.Held, error)
	for _, row := range []struct {
		url, name string
		find      finder
		prefixes  []string
	}{
		{"", "a/b", etcdfence.Find, []string{"", "/holdfast", "/holdfast/"}},
		{"/team/locks/", "a/b", etcdfence.Find, []string{"/team/locks", "/team/locks/"}},
		{"?layout=concurrency", "a/b", etcdfence.FindInConcurrency, []string{""}},
		{"/team?layout=concurrency", "job", etcdfence.FindInConcurrency, []string{"/team"}},
		{"?layout=concurrency&prefix=/team/", "job", etcdfence.FindInConcurrency, []string{"/team/"}},
	} {
		c, err := holdfast.Open(t.Context(), "etcd://"+address+row.url)
		if err != nil {
			t.Fatal(err)
		}
		l, err := c.Mutex(row.name).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, prefix := range row.prefixes {
			held, err := row.find(t.Context(), client, prefix, row.name, l.Token())
			if err != nil {
				t.Errorf("%s: find the lock under %q: %v", row.url, prefix, err)
				continue
			}
			if _, err := held.Do(t.Context(), clientv3.OpGet("data")); err != nil {
				t.Errorf("%s: read under the lock: %v", row.url, err)
			}
			if _, err := row.find(t.Context(), client, prefix, "a", l.Token()); !errors.Is(err, fence.ErrStale) {
				t.Errorf("%s: the token of %q is found for another lock: %v", row.url, row.name, err)
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A number that no lease of etcd has as its token, such as a revision of etcd itself, finds no lock: least of all that
// of somebody else, whose end would then count as its being held.
func TestFindByNoToken(t *testing.T) {
	client := connect(t)
	if _, err := lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, token := range []uint64{1, 1023} {
		held, err := etcdfence.Find(t.Context(), client, "/holdfast", "report", token)
		if errors.Is(err, fence.ErrStale) {
			continue
		}
		t.Errorf("find the lock by the token %d: %v", token, err)
		// This frees the lock.
		if _, err := client.Delete(t.Context(), "/holdfast/", clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
		if _, err := held.Do(t.Context(), clientv3.OpPut("text", "late")); err == nil {
			t.Error("it writes while nobody has the lock")
		}
	}
}

// write writes a token under the lock of the examples, in a transaction of its own.
func write(t *testing.T, client *clientv3.Client, token uint64, want error) {
	t.Helper()
	held, err := etcdfence.Find(t.Context(), client, "/holdfast", "report", token)
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Fatalf("find the lock with token %d: %v, want %v", token, err, want)
	}
	if want != nil {
		return
	}
	answer, err := client.Txn(t.Context()).If(held.Cmp()).Then(clientv3.OpPut("text", fence.Format(token))).Commit()
	if err != nil || !answer.Succeeded {
		t.Fatalf("the holder's own transaction: %v, %v", answer, err)
	}
	if answer, err := held.Do(t.Context(), clientv3.OpGet("text")); err != nil || len(answer.Responses) != 1 {
		t.Fatalf("read under the lock: %v, %v", answer, err)
	}
}

func TestExamples(t *testing.T) {
	client := connect(t)
	for _, row := range []struct {
		late func(context.Context, *clientv3.Client) error
		want string
	}{{writeLate, ""}, {writeAfter, "new"}} {
		if err := row.late(t.Context(), client); !errors.Is(err, fence.ErrStale) {
			t.Errorf("the late write: %v", err)
		}
		if got := value(t, client, "text"); got != row.want {
			t.Errorf("the text is %q, want %q", got, row.want)
		}
		// This frees the lock.
		if _, err := client.Delete(t.Context(), "/holdfast/", clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
	}
}
