package claimstest

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// TestLossHasTheCause takes a lock, lets shut keep the user of the URL out and end its sessions, and expects that the
// holder, who loses the lock, is told why: by the server's words and its code.
func TestLossHasTheCause(t *testing.T, url, code string, shut func()) {
	client, err := holdfast.Open(t.Context(), url, holdfast.WithTTL(6*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	lease, err := client.Mutex(t.Name()).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shut()
	<-lease.Done()
	lost, isLost := errors.AsType[*holdfast.LostError](lease.Err())
	if !isLost {
		t.Fatalf("it ended with %v", lease.Err())
	}
	if _, answered := errors.AsType[*driver.ServerError](lost.Err); !answered || dbms.Code(lost.Err) != code {
		t.Errorf("it was lost because of %v, want the server's error %s", lost.Err, code)
	}
}
