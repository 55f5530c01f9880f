// Package holdfast gives Go programs distributed locks over the engine they already run.
//
//	// With _ "github.com/holdfast-go/holdfast/redislock" imported:
//	client, err := holdfast.Open(ctx, "redis://localhost:6379")
//	err = client.Mutex("orders/42").Do(ctx, func(ctx context.Context, l *holdfast.Lease) error {
//		// ctx ends if the lock is lost; the token lets the resource refuse a late write.
//		return ship(ctx, 42, l.Token())
//	})
//
// What every lock promises, while the assumptions that docs/guarantees.md names for its backend hold:
//
//  1. Mutual exclusion: what the lock excludes never overlaps.
//  2. Fencing: the tokens of a name are unique and grow in the order of grants, whatever happens to leases.
//  3. The holder knows first: a lease reports that it is lost before anybody else can be granted the lock.
//  4. Crash release: a lock whose holder died is free within its TTL.
//  5. No lost wake-ups and no herd: the end of a claim wakes those whom it makes grantable, and nobody else.
//  6. Unknown is not failed: what may have been applied is undone, never reported as "taken".
//  7. Cancelling is safe: the call returns at once, and nothing stays queued or held.
//  8. Release tells the truth: nil only if the lock was ours until that instant.
//  9. First come, first served among processes, but for a bounded local hand-off.
//  10. Names never collide: "a" does not block on "a/b", and any bytes are a name.
//
// All types are safe for concurrent use unless their comment says otherwise.
package holdfast
