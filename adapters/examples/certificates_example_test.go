package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast/adapters/caddylock"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
)

func Example_certMagic() {
	client, ctx := onRedis(), context.Background()
	defer client.Close(ctx)
	storage := certmagiclock.Wrap(certmagic.Default.Storage, client)
	fmt.Println(storage.Lock(ctx, "issue"))
	fmt.Println(storage.TryLock(ctx, "issue"))
	fmt.Println(storage.Unlock(ctx, "issue"))
	// Output:
	// <nil>
	// false <nil>
	// <nil>
}

// Caddy makes the storage from its configuration.
func Example_caddy() {
	folder, err := os.MkdirTemp("", "caddy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	config, _ := json.Marshal(map[string]any{
		"url": "redis://" + redis.Addr, "storage": map[string]string{"module": "file_system", "root": folder},
	})
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	module, err := ctx.LoadModuleByID("caddy.storage.holdfast", config)
	if err != nil {
		log.Fatal(err)
	}
	storage, _ := module.(*caddylock.Storage).CertMagicStorage()
	fmt.Println(storage.Lock(ctx, "caddy/issue"))
	fmt.Println(storage.Unlock(ctx, "caddy/issue"))
	// Output:
	// <nil>
	// <nil>
}
