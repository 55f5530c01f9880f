package etcdfence

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/fence"
)

// tokens is what the keys of greatest tokens begin with.
const tokens = "/holdfast-fence/"

// Do does operations in one transaction unless a greater token was seen for the resource, in which case the error
// matches [fence.ErrStale]. The answers to ops are the first in the response. The greatest token stays in the key
// /holdfast-fence/<resource>, which may be deleted once nobody can have an older token any more.
//
// Other errors leave open whether the operations were done. They may be repeated with the same token if ops may.
func Do(
	ctx context.Context, client clientv3.KV, resource string, token uint64, ops ...clientv3.Op,
) (*clientv3.TxnResponse, error) {
	if err := fence.Check(token); err != nil {
		return nil, err
	}
	key := tokens + driver.EncodeName(resource, 0)
	// A key that is missing is not greater than anything.
	answer, err := client.Txn(ctx).
		If(clientv3.Compare(clientv3.Value(key), ">", stored(token))).
		Then(clientv3.OpGet(key)).
		Else(append(ops[:len(ops):len(ops)], clientv3.OpPut(key, stored(token)))...).
		Commit()
	if err != nil {
		return nil, fmt.Errorf("write to %q in etcd: %w", resource, err)
	}
	if answer.Succeeded {
		return nil, fence.Stale(resource, token, seen(answer))
	}
	return answer, nil
}

// stored is a token as text that etcd orders as the numbers.
func stored(token uint64) string { return fmt.Sprintf("%020d", token) }

// seen is the token that stood in the way.
func seen(answer *clientv3.TxnResponse) (token uint64) {
	for _, kv := range answer.Responses[0].GetResponseRange().Kvs {
		fmt.Sscanf(string(kv.Value), "%d", &token) // what others may have written there is no token
	}
	return token
}
