package driver

// A Sharder has operations on different locks served by different parts of an engine, each of which may be slow by
// itself. Operations of different shards never share a batch.
type Sharder interface {
	// Shard names the part that serves a lock. It may change while the driver is open.
	Shard(name string) string
}
