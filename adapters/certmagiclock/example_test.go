package certmagiclock_test

import (
	"context"
	"log"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
)

func ExampleWrap() {
	// redis://, etcd:// and so on for several machines
	client, err := holdfast.Open(context.Background(), "mem:certificates")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	certmagic.Default.Storage = certmagiclock.Wrap(certmagic.Default.Storage, client)
}
