package etcdfence

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/fence"
)

// localBits are those of a lease's token that count the holders to whom a process has handed the lock on. The others
// are the create revision of the claim's key.
const localBits = 10

// A Held lock can be asked by transactions whether it still is. The key tells processes apart, not those to whom one
// process hands the lock on: they share it, though each has a token of its own. Where one of them may write late, after
// its release or when it has overstayed WithMaxHold, lock with WithLocalHandoff(0), or use [Do], which compares tokens.
type Held struct {
	client clientv3.KV
	name   string
	token  uint64
	key    string
}

// defaultPrefix is what the keys of locks begin with whose URL has no prefix.
const defaultPrefix = "/holdfast"

// Find finds the key of a lock that is held, by the token of its lease, which takes one request. prefix is that of the
// lock's URL, with or without a slash at its end; empty stands for "/holdfast", as there. The error matches
// [fence.ErrStale] when the lock was lost, and also when the prefix is not that of the lock. For locks whose URL says
// layout=concurrency there is [FindInConcurrency].
func Find(ctx context.Context, client clientv3.KV, prefix, name string, token uint64) (*Held, error) {
	if prefix == "" {
		prefix = defaultPrefix
	}
	return find(ctx, client, strings.TrimRight(prefix, "/")+"/"+driver.EncodeName(name, 0)+"/", name, token)
}

// FindInConcurrency is [Find] for a lock in the layout of etcd's own concurrency.Mutex, where names are used as they
// are and follow the prefix at once: here a slash at its end counts. Empty stands for no prefix.
func FindInConcurrency(ctx context.Context, client clientv3.KV, prefix, name string, token uint64) (*Held, error) {
	return find(ctx, client, prefix+name+"/", name, token)
}

// find looks for a claim of this token among the keys of a queue.
func find(ctx context.Context, client clientv3.KV, queue, name string, token uint64) (*Held, error) {
	if err := fence.Check(token); err != nil {
		return nil, err
	}
	revision := int64(token >> localBits)
	if revision == 0 { // which etcd takes for any
		return nil, fence.Stale(name, token, 0)
	}
	answer, err := client.Get(ctx, queue, clientv3.WithPrefix(), clientv3.WithKeysOnly(),
		clientv3.WithMinCreateRev(revision), clientv3.WithMaxCreateRev(revision))
	if err != nil {
		return nil, fmt.Errorf("look for the key of lock %q in etcd: %w", name, err)
	}
	for _, kv := range answer.Kvs {
		if rest := strings.TrimPrefix(string(kv.Key), queue); strings.Count(rest, "/") == 1 { // the claim and its lease
			return &Held{client: client, name: name, token: token, key: string(kv.Key)}, nil
		}
	}
	return nil, fence.Stale(name, token, 0)
}

// Cmp is for the If of a transaction: it holds while the lock is held.
func (h *Held) Cmp() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(h.key), "=", int64(h.token>>localBits))
}

// Do does operations in one transaction if the lock is held; otherwise the error matches [fence.ErrStale]. Other errors
// leave open whether they were done.
func (h *Held) Do(ctx context.Context, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	answer, err := h.client.Txn(ctx).If(h.Cmp()).Then(ops...).Commit()
	if err != nil {
		return nil, fmt.Errorf("write under the lock %q in etcd: %w", h.name, err)
	}
	if !answer.Succeeded {
		return nil, fence.Stale(h.name, h.token, 0)
	}
	return answer, nil
}
