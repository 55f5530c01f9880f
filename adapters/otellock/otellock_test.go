package otellock_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

func traced(t *testing.T) (*holdfast.Client, *sdk.TracerProvider, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	c := holdfast.New(memlock.New().Client(), holdfast.WithObserver(otellock.New(provider)))
	t.Cleanup(func() { c.Close(context.Background()) })
	return c, provider, spans
}

func TestObserver(t *testing.T) {
	c, provider, spans := traced(t)
	ctx, parent := provider.Tracer("test").Start(t.Context(), "work")
	lease, err := c.Mutex("m").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mutex("m").TryLock(ctx); err == nil {
		t.Fatal("held twice")
	}
	lease.Release(ctx)
	names := []string{"lock.acquire", "lock.acquire", "lock.hold"}
	acquired := []string{"true", "false", ""}
	ended := spans.Ended()
	if len(ended) != len(names) {
		t.Fatalf("%d spans", len(ended))
	}
	for i, span := range ended {
		attributes := attributesOf(span)
		if span.Name() != names[i] || attributes["lock.acquired"] != acquired[i] || attributes["lock.name"] != "m" {
			t.Errorf("span %d: %s %v", i, span.Name(), attributes)
		}
		if span.Parent().SpanID() != parent.SpanContext().SpanID() || span.Status().Code == codes.Error {
			t.Errorf("span %d: parent %v, status %v", i, span.Parent(), span.Status())
		}
		if i != 1 && attributes["lock.token"] != strconv.FormatUint(lease.Token(), 10) {
			t.Errorf("span %d: token %s", i, attributes["lock.token"])
		}
	}
}

func attributesOf(span sdk.ReadOnlySpan) map[string]string {
	attributes := make(map[string]string)
	for _, a := range span.Attributes() {
		attributes[string(a.Key)] = a.Value.String()
	}
	return attributes
}

// The work under a lock nests in the span of its hold.
func TestWorkNests(t *testing.T) {
	c, provider, spans := traced(t)
	err := c.Mutex("m").Do(t.Context(), func(ctx context.Context, l *holdfast.Lease) error {
		_, work := provider.Tracer("test").Start(ctx, "work")
		work.End()
		_, more := provider.Tracer("test").Start(l.Context(), "more")
		more.End()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]sdk.ReadOnlySpan)
	for _, span := range spans.Ended() {
		byName[span.Name()] = span
	}
	hold := byName["lock.hold"]
	for _, name := range []string{"work", "more"} {
		if byName[name].Parent().SpanID() != hold.SpanContext().SpanID() {
			t.Errorf("%s is not a child of lock.hold", name)
		}
	}
}

// The span of a lease that is lost while a job runs under it ends with an error, at the loss.
func TestLossEndsTheSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, spans := traced(t)
		err := c.Mutex("m", holdfast.WithMaxHold(time.Minute)).Do(t.Context(),
			func(ctx context.Context, _ *holdfast.Lease) error {
				<-ctx.Done()
				time.Sleep(time.Hour)
				return nil
			})
		if !errors.Is(err, holdfast.ErrLost) {
			t.Fatal(err)
		}
		for _, span := range spans.Ended() {
			if span.Name() != "lock.hold" {
				continue
			}
			if took := span.EndTime().Sub(span.StartTime()); took != time.Minute || span.Status().Code != codes.Error {
				t.Errorf("it took %v, status %v", took, span.Status())
			}
			return
		}
		t.Error("no span has ended")
	})
}

// The span of a lock that was lost says why it was not renewed.
func TestLossNamesItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := tracetest.NewSpanRecorder()
		provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
		c := holdfast.New(batch.Intercept(memlock.New(), new(busy).pass), holdfast.WithObserver(otellock.New(provider)))
		defer c.Close(t.Context())
		if _, err := c.Mutex("m").Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(holdfast.DefaultTTL)
		synctest.Wait()
		ended := spans.Ended()
		last := ended[len(ended)-1]
		if last.Name() != "lock.hold" || !strings.Contains(last.Status().Description, "BUSY") {
			t.Errorf("the last span is %s, with the status %q", last.Name(), last.Status().Description)
		}
	})
}

// A busy backend answers one request.
type busy struct{ asked atomic.Int64 }

func (b *busy) pass(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	if op.Kind == driver.OpRequest && b.asked.Add(1) > 1 {
		return driver.Result{Err: &driver.ServerError{Words: "BUSY a script is running"}}
	}
	return next(op)
}

// The names of locks are bytes, and those of attributes text: what is no UTF-8 would keep an exporter from sending any
// of the spans that it sends together.
func TestNamesThatAreNoText(t *testing.T) {
	c, _, spans := traced(t)
	lease, err := c.Mutex("order \xff").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mutex("order \xff").TryLock(lease.Context()); err == nil {
		t.Fatal("held twice")
	}
	lease.Release(t.Context())
	isText(t, spans)
}

// So may be what a server says: PostgreSQL does so in its own language before it knows that of the client.
func TestErrorsThatAreNoText(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	c := holdfast.New(batch.Intercept(memlock.New(), foreign), holdfast.WithObserver(otellock.New(provider)))
	defer c.Close(t.Context())
	if _, err := c.Mutex("m", holdfast.WithPatience(0)).Lock(t.Context()); err == nil {
		t.Fatal("it is acquired")
	}
	isText(t, spans)
}

// foreign is a server that says what is wrong in Latin-1.
func foreign(context.Context, driver.Op, func(driver.Op) driver.Result) driver.Result {
	return driver.Result{Err: errors.New("zu viele Verbindungen f\xfcr diese Rolle")}
}

// isText fails the test if there are no spans, or an exporter could not send them.
func isText(t *testing.T, spans *tracetest.SpanRecorder) {
	t.Helper()
	if len(spans.Ended()) == 0 {
		t.Error("there are no spans")
	}
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			if !utf8.ValidString(a.Value.AsString()) {
				t.Errorf("%s: %s is %q", span.Name(), a.Key, a.Value.AsString())
			}
		}
		for _, e := range span.Events() {
			for _, a := range e.Attributes {
				if !utf8.ValidString(a.Value.AsString()) {
					t.Errorf("%s of %s: %s is %q", e.Name, span.Name(), a.Key, a.Value.AsString())
				}
			}
		}
		if said := span.Status().Description; !utf8.ValidString(said) {
			t.Errorf("the status of %s is %q", span.Name(), said)
		}
	}
}
