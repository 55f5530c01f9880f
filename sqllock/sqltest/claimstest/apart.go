package claimstest

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// TestApart makes the tables at two places of one server. Locks of one name do not exclude each other there, and who
// waits in one place is granted its lock by what happens in that place.
func TestApart(t *testing.T, urls ...string) {
	var clients []*drivertest.Facade
	for _, url := range urls {
		if err := sqllock.MigrateURL(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		d, err := drivertest.Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		clients = append(clients, d)
	}
	var held, next []driver.Claim
	for _, d := range clients {
		held = append(held, request(t, d, mutex(t.Name()), true))
		next = append(next, request(t, d, mutex(t.Name()), false))
	}
	for i, d := range clients {
		granted := make(chan driver.Status)
		go func() { granted <- await(t, d, next[i]) }()
		release(t, d, held[i])
		if st := <-granted; st.Token != next[i].Token {
			t.Errorf("token %d, want %d", st.Token, next[i].Token)
		}
		for j := i + 1; j < len(clients); j++ {
			request(t, clients[j], held[j], true)
		}
	}
}
