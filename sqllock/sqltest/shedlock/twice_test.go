package shedlock

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
)

// A request that would not wait may be sent again while it is still under way, and be answered first. In whatever order
// the statements of both come: if neither is told that it has the lock, nobody has.
func TestTwiceAtOnce(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
			stranger, first, again := s.open(t, addr), s.stepwise(t, addr), s.stepwise(t, addr)
			for _, order := range orders(5) {
				if !p.lock(t, s, order, atMost) {
					t.Fatalf("%s: they do not get a lock that is free", order)
				}
				c := claimOf(order)
				answers := []<-chan answer{first.begin(c), again.begin(c)}
				for _, next := range order + strings.Repeat("12", 3) {
					switch next {
					case 'f':
						p.free(t, s, order)
					case '1':
						first.step()
					case '2':
						again.step()
					}
				}
				a, b := <-answers[0], <-answers[1]
				told := a.Granted || b.Granted
				if st := request(t, stranger, claimOf(order)); st.Granted == told {
					t.Errorf("%s: the answers are %+v and %+v, then another's is %+v", order, a, b, st)
				}
			}
		})
	}
}

// orders are those of n statements of each of two requests, 1 and 2, and of the moment f in which the lock is freed.
// Before that moment their order does not matter.
func orders(n int) (all []string) {
	for first := range n + 1 {
		for again := range first + 1 {
			before := strings.Repeat("1", first) + strings.Repeat("2", again) + "f"
			for _, after := range mixed(n-first, n-again) {
				all = append(all, before+after)
			}
		}
	}
	return all
}

// mixed are the texts of so many 1 and so many 2.
func mixed(ones, twos int) (all []string) {
	if ones == 0 || twos == 0 {
		return []string{strings.Repeat("1", ones) + strings.Repeat("2", twos)}
	}
	for _, rest := range mixed(ones-1, twos) {
		all = append(all, "1"+rest)
	}
	for _, rest := range mixed(ones, twos-1) {
		all = append(all, "2"+rest)
	}
	return all
}

// An answer is that to a request. An error says as little as an answer that was lost.
type answer struct {
	driver.Status
	err error
}

// A stepwise driver stops before each statement of a request.
type stepwise struct {
	driver.Driver
	stopped chan bool // whether there is a statement: the request has ended if not
	goOn    chan struct{}
	ended   bool
}

// stepwise opens a client that stops before each statement once it is open.
func (s server) stepwise(t testing.TB, addr string) *stepwise {
	t.Helper()
	w := &stepwise{ended: true}
	w.Driver = s.openThrough(t, addr, func(c sqldriver.Connector) sqldriver.Connector { return watched{c, w} })
	return w
}

// begin begins a request, which stops before its first statement.
func (w *stepwise) begin(c driver.Claim) <-chan answer {
	w.stopped, w.goOn, w.ended = make(chan bool), make(chan struct{}), false
	done := make(chan answer, 1)
	go func() {
		op := driver.Op{Kind: driver.OpRequest, Claim: c} // of a claim that nobody follows
		w.Do(context.Background(), []driver.Op{op}, func(_ int, r driver.Result) { done <- answer{r.Status, r.Err} })
		w.stopped <- false
	}()
	w.ended = !<-w.stopped
	return done
}

// step lets the request go on to its next statement, or to its end.
func (w *stepwise) step() {
	if !w.ended {
		w.goOn <- struct{}{}
		w.ended = !<-w.stopped
	}
}

// before is called before each statement.
func (w *stepwise) before() {
	if !w.ended {
		w.stopped <- true
		<-w.goOn
	}
}

// watched are connections that tell before each statement.
type watched struct {
	sqldriver.Connector
	by *stepwise
}

func (w watched) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	return watchedConn{c, w.by}, err
}

type watchedConn struct {
	sqldriver.Conn
	by *stepwise
}

func (c watchedConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	c.by.before()
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, args)
}

func (c watchedConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	c.by.before()
	return c.Conn.(sqldriver.QueryerContext).QueryContext(ctx, query, args)
}

func (a answer) String() string { return fmt.Sprintf("granted: %t, error: %v", a.Granted, a.err) }
