package etcdlock

import (
	"context"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// A watcher tells what happens to keys from the time at which it is created.
//
// It asks for revision 0, "from now". The server serves that at once, but a watch from a revision that has passed
// only in the next round of a loop of 100 ms. Who reads the keys again when the watcher is created misses nothing.
type watcher struct {
	key    string
	news   <-chan clientv3.WatchResponse // closed when the watch is broken
	cancel context.CancelFunc
	since  int64 // revision at which it was created; zero until that is known
}

// watch begins to watch a key, or all keys that begin with it. It ends with cancel, or with ctx, which ends with the
// driver.
func (d *Driver) watch(ctx context.Context, key string, opts ...clientv3.OpOption) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan clientv3.WatchResponse)
	d.running.Go(func() {
		defer close(news)
		defer cancel()
		opts := append(opts, clientv3.WithCreatedNotify())
		member, ctx, stop := d.members.listener(ctx)
		defer stop()
		stream := d.stream.Load()
		ctx = metadata.AppendToOutgoingContext(ctx, "holdfast-stream", strconv.FormatInt(stream, 10))
		for r := range member.watcher.Watch(clientv3.WithRequireLeader(ctx), key, opts...) {
			if r.Canceled && r.Err() != nil && tokenEnded(r.Err().Error()) {
				d.stream.CompareAndSwap(stream, stream+1)
				d.tokens.forget(r.Err())
			}
			select {
			case news <- r:
			case <-ctx.Done():
				return
			}
		}
	})
	return &watcher{key: key, news: news, cancel: cancel}
}

// created reports whether the server has begun to watch.
func (f *watcher) created() bool { return f != nil && f.since > 0 }

// note notes from when on the watch tells what happens.
func (f *watcher) note(r clientv3.WatchResponse) {
	if r.Created {
		f.since = r.Header.Revision
	}
}

// broken reports whether a watch will tell nothing more.
func broken(r clientv3.WatchResponse, ok bool) bool { return !ok || r.Canceled || r.Err() != nil }

// channel is where news arrive: nowhere for nil.
func (f *watcher) channel() <-chan clientv3.WatchResponse {
	if f == nil {
		return nil
	}
	return f.news
}
