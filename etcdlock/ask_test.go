package etcdlock

import (
	"context"
	"sync/atomic"
	"testing"
)

// An answer that comes when others have been asked, too, may be to a question that one of them has answered before.
func TestAnswerWhenOthersAreAsked(t *testing.T) {
	t.Parallel()
	client, _ := membersAt(t, "127.0.0.1:1", "127.0.0.1:2")
	d, err := New(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var asked atomic.Int32
	others := make(chan struct{})
	answer, again, err := ask(t.Context(), d, func(ctx context.Context, _ *member) (string, error) {
		switch asked.Add(1) {
		case 1:
			<-others
			return "late", nil
		case 2:
			close(others)
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	if answer != "late" || !again || err != nil {
		t.Errorf("%q, again %v, %v; want the answer, to what was asked again", answer, again, err)
	}
}
