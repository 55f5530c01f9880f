package fence_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// put sends a request with a token, or with none when it is 0.
func put(t *testing.T, client *http.Client, url string, token uint64) (*http.Response, error) {
	t.Helper()
	ctx := t.Context()
	if token != 0 {
		ctx = fence.NewContext(ctx, token)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err == nil {
		answer.Body.Close()
	}
	return answer, err
}

// service starts a server whose handler notes the tokens that it gets to see.
func service(t *testing.T) (server *httptest.Server, client *http.Client, served *[]uint64) {
	served = new([]uint64)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := fence.FromContext(r.Context())
		*served = append(*served, token)
	})
	resource := func(r *http.Request) string {
		if r.Method == http.MethodGet {
			return ""
		}
		return r.URL.Path
	}
	server = httptest.NewServer(fence.Handler(new(fence.Register), resource, handler))
	t.Cleanup(server.Close)
	client = server.Client()
	client.Transport = &fence.Transport{Base: client.Transport}
	return server, client, served
}

func TestHandler(t *testing.T) {
	server, client, served := service(t)
	for _, row := range []struct {
		path  string
		token uint64
		stale bool
	}{
		{"/a", 5, false}, {"/a", 1<<53 + 1, false}, {"/a", 1 << 53, true}, {"/b", 5, false}, {"/a", 1<<53 + 1, false},
	} {
		answer, err := put(t, client, server.URL+row.path, row.token)
		wellDone := err == nil && answer.StatusCode == http.StatusOK
		if errors.Is(err, fence.ErrStale) != row.stale || !row.stale && !wellDone {
			t.Errorf("token %d for %s: %v, %v", row.token, row.path, answer, err)
		}
		if row.stale && !strings.Contains(err.Error(), fmt.Sprint(1<<53+1)) {
			t.Errorf("the error does not say what was seen: %v", err)
		}
	}
	if got := fmt.Sprint(*served); got != fmt.Sprint([]uint64{5, 1<<53 + 1, 5, 1<<53 + 1}) {
		t.Errorf("served: %s", got)
	}
}

func TestHandlerNeedsAToken(t *testing.T) {
	server, client, served := service(t)
	for _, header := range []string{"", "0", "5, 6", "five", "-5"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(fence.Header, header)
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusPreconditionRequired {
			t.Errorf("%q is answered %s", header, answer.Status)
		}
	}
	if len(*served) != 0 {
		t.Errorf("served: %v", *served)
	}
	answer, err := client.Get(server.URL + "/a") // writes nothing
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("a request that writes nothing: %v, %v", answer, err)
	}
	if err == nil {
		answer.Body.Close()
	}
}

func TestTransport(t *testing.T) {
	t.Run("other failed preconditions are answers", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "If-Match", http.StatusPreconditionFailed)
		}))
		defer server.Close()
		client := &http.Client{Transport: new(fence.Transport)}
		answer, err := put(t, client, server.URL, 5)
		if err != nil || answer.StatusCode != http.StatusPreconditionFailed {
			t.Errorf("it became %v, %v", answer, err)
		}
	})
	t.Run("a handler refuses", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if fence.Refuse(w, errors.New("another error")) {
				t.Error("another error is refused as stale")
			}
			if !fence.Refuse(w, fence.Stale("a", 5, 0)) {
				t.Error("a stale token is not refused")
			}
		}))
		defer server.Close()
		client := &http.Client{Transport: new(fence.Transport)}
		if answer, err := put(t, client, server.URL, 5); !errors.Is(err, fence.ErrStale) {
			t.Errorf("it became %v, %v", answer, err)
		}
	})
	t.Run("the caller's request stays as it is", func(t *testing.T) {
		server, client, _ := service(t)
		ctx := fence.NewContext(context.Background(), 5)
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if len(request.Header) != 0 {
			t.Errorf("it got headers: %v", request.Header)
		}
	})
	t.Run("0 is no token", func(t *testing.T) {
		_, client, served := service(t)
		ctx := fence.NewContext(t.Context(), 0)
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://localhost", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := client.Do(request); err == nil || len(*served) != 0 {
			t.Errorf("it is sent, and answered %v", answer)
		}
	})
}
