package zklock_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// By SASL a user is known whom the server has in its JAAS configuration, and nobody else.
func TestSASL(t *testing.T) {
	t.Parallel()
	const users = `Server {
	org.apache.zookeeper.server.auth.DigestLoginModule required user_app="s3cret" user_other="two";
};`
	jaas := filepath.Join(t.TempDir(), "jaas.conf")
	if err := os.WriteFile(jaas, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := servers.ZooKeeper(t, "-Djava.security.auth.login.config="+jaas,
		"authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider").Addr
	app := mustOpen(t, "zk://app:s3cret@"+addr+"?sasl=true")
	held := acquire(t, app, claim("job", longest)) // the servers of this test take long to start
	enqueue(t, mustOpen(t, "zk://app:s3cret@"+addr+"?sasl=true"), claim("job", long))
	for what, user := range map[string]string{"another user": "other:two@", "nobody": ""} {
		d := mustOpen(t, "zk://"+user+addr+map[bool]string{true: "?sasl=true"}[user != ""])
		if _, err := d.Request(limit(t), claim("job", long)); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: got %v, want a refusal", what, err)
		}
	}
	for _, login := range []string{"app:s3cret-wrong", "nobody:s3cret-wrong"} {
		_, err := openURL(t, "zk://"+login+"@"+addr+"?sasl=true")
		if err == nil || !strings.Contains(err.Error(), "not accepted") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want a refusal without the password", login, err)
		}
	}
	_, err := openURL(t, "zk://app:s3cret@"+zklock.Server(t).Addr+"?sasl=true")
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "JAAS") {
		t.Errorf("a server without SASL: got %v, want a refusal that says so", err)
	}
	release(t, app, held)
}
