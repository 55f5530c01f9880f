package etcdfence

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/fence"
)

// localBits are those of a lease's token that count the holders to whom a process has handed the lock on. The others are
// the create revision of the claim's key.
const localBits = 8

// A Held lock can be asked by transactions whether it still is. The key tells processes apart, not those to whom one process
// hands the lock on: they share it, though each has a token of its own. Where one of them may write late, after its release
// or when it has overstayed WithMaxHold, lock with WithLocalHandoff(0), or use [Do], which compares tokens.
type Held struct {
	client clientv3.KV
	name   string
	token  uint64
	key    string
}

// Find finds the key of a lock that is held, by the token of its lease, which takes one request. prefix is that of the
// lock's URL, like "/holdfast". The error matches [fence.ErrStale] when the lock was lost.
func Find(ctx context.Context, client clientv3.KV, prefix, name string, token uint64) (*Held, error) {
	if err := fence.Check(token); err != nil {
		return nil, err
	}
	revision := int64(token >> localBits)
	answer, err := client.Get(ctx, prefix+"/"+driver.EncodeName(name, 0)+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly(),
		clientv3.WithMinCreateRev(revision), clientv3.WithMaxCreateRev(revision))
	if err != nil {
		return nil, fmt.Errorf("look for the key of lock %q in etcd: %w", name, err)
	}
	if len(answer.Kvs) != 1 {
		return nil, fence.Stale(name, token, 0)
	}
	return &Held{client: client, name: name, token: token, key: string(answer.Kvs[0].Key)}, nil
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
