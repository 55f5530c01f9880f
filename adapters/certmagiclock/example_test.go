package certmagiclock_test

import (
	"context"
	"log"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
)

func ExampleWrap() {
	client, err := holdfast.Open(context.Background(), "mem:certificates") // redis://, etcd:// and so on for several machines
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	certmagic.Default.Storage = certmagiclock.Wrap(certmagic.Default.Storage, client)
}
