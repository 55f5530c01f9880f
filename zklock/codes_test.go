package zklock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// codesOfServers are those that org.apache.zookeeper.KeeperException.Code has in 3.5 to 3.9.
var codesOfServers = []code{-1, -2, -3, -4, -5, -6, -7, -8, -12, -13, -14, -100, -101, -102, -103, -108, -110, -111,
	-112, -113, -114, -115, -118, -119, -120, -121, -122, -123, -124, -125, -127}

func TestEveryCodeHasAMeaning(t *testing.T) {
	for _, c := range codesOfServers {
		i := slices.IndexFunc(meanings, func(m meaning) bool { return m.code == c })
		if i < 0 || meanings[i].name == "" {
			t.Errorf("%d is not in the table", c)
		}
	}
	for i, m := range meanings {
		if i > 0 && m.code >= meanings[i-1].code {
			t.Errorf("%d is not in its place", m.code)
		}
		if m.err != nil && zk.ErrCode(m.code) != 0 && answerIn(m.err) == nil {
			t.Errorf("the library's error for %d is not taken for an answer", m.code)
		}
		if answer := m.code.answered(); m.effect == driver.Refused && !errors.Is(answer, driver.ErrRefused) ||
			m.effect == driver.NotNow && !errors.Is(answer, driver.ErrUnsent) ||
			m.effect == driver.MayHaveHappened && errors.Is(answer, driver.ErrUnsent) {
			t.Errorf("%d is answered with %v", m.code, answer)
		}
	}
}

// A code that is not in the table is an answer all the same, of which nothing is known.
func TestUnknownCode(t *testing.T) {
	err := answerIn(fmt.Errorf("unknown error: %v", zk.ErrCode(-4711)))
	if !isAnswer(err) || driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) ||
		!strings.Contains(err.Error(), "-4711") {
		t.Errorf("code -4711 is taken for %v", err)
	}
}

const opCreateContainer, opMulti = 19, 14

// answering answers requests of this kind with a code, or hangs up where that is zero, and counts them.
func answering(op uint32, with code, count *int) func([]byte) proxy.Reaction {
	return func(chunk []byte) (r proxy.Reaction) {
		for len(chunk) > 0 {
			request := chunk
			if len(chunk) >= lengthEnd {
				request = chunk[:min(len(chunk), lengthEnd+int(binary.BigEndian.Uint32(chunk)))]
			}
			chunk = chunk[len(request):]
			switch is := len(request) >= opAt+4 && binary.BigEndian.Uint32(request[opAt:]) == op; {
			case !is:
				r.Pass = append(r.Pass, request...)
				continue
			case with == 0:
				r.Cut = true
			default:
				r.Answer = append(r.Answer, errorFor(request, with)...)
			}
			*count++
		}
		return r
	}
}

// errorFor is the answer to a request that is an error.
func errorFor(request []byte, with code) []byte {
	b := binary.BigEndian.AppendUint32(nil, saidEnd-lengthEnd)
	b = append(b, request[numberAt:opAt]...)
	b = binary.BigEndian.AppendUint64(b, 0)
	return binary.BigEndian.AppendUint32(b, uint32(with))
}

// handledHere are answers that the driver acts upon.
var handledHere = []code{-101, -110, -112, errNoSASL}

// A server answers the request for a lock with an error. It has answered, whatever it says, and the error tells what. A
// refusal is not asked for again.
func TestAnswersToARequest(t *testing.T) {
	t.Parallel()
	addr := Server(t).Addr
	for _, m := range meanings {
		if slices.Contains(handledHere, m.code) || m.err == nil && m.effect == driver.MayHaveHappened && m.code < -9 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p := proxy.New(t, addr)
			d := inside(t, p.Addr)
			if _, err := d.sessionFor(t.Context(), 10*time.Second); err != nil {
				t.Fatal(err)
			}
			count := 0
			p.React(answering(opMulti, m.code, &count))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client := holdfast.New(d, holdfast.WithTTL(10*time.Second), holdfast.WithPatience(0))
			_, err := client.Mutex(m.name).Lock(ctx)
			answer, ok := errors.AsType[*driver.ServerError](err)
			if !ok || answer.Effect != m.effect || !strings.Contains(answer.Words, m.name) {
				t.Fatalf("the error is %v (%+v)", err, answer)
			}
			if errors.Is(err, holdfast.ErrUnknown) != (m.effect == driver.MayHaveHappened) {
				t.Errorf("whether it is known what happened: %v", err)
			}
			for _, silence := range []string{"no answer", "running and reachable"} {
				if strings.Contains(err.Error(), silence) {
					t.Errorf("the answer is called silence: %v", err)
				}
			}
			p.React(nil)
			if m.effect != driver.MayHaveHappened && count != 1 {
				t.Errorf("it was asked %d times", count)
			}
			if _, err := client.Mutex(m.name).Lock(ctx); err != nil {
				t.Errorf("afterwards the lock cannot be had: %v", err)
			}
		})
	}
}

// A server that makes no container nodes is named, whether it says so or hangs up, and is not asked again and again.
func TestServerWithoutContainers(t *testing.T) {
	t.Parallel()
	addr := Server(t).Addr
	for name, with := range map[string]code{"hangs up": 0, "BADARGUMENTS": -8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := proxy.New(t, addr)
			d := inside(t, p.Addr)
			count := 0
			p.React(answering(opCreateContainer, with, &count))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := d.Request(ctx, mutexClaim("fresh "+name, 10*time.Second))
			if !isRefused(err) || !strings.Contains(err.Error(), "container") {
				t.Errorf("the request answers %v", err)
			}
			p.React(nil)
			if most := 2 * mostHangUps; count > most { // two nodes are made together
				t.Errorf("it was asked %d times", count)
			}
			if st, err := d.Request(ctx, mutexClaim("fresh "+name, 10*time.Second)); err != nil || !st.Granted {
				t.Errorf("a server that does makes the node, and the request answers %+v, %v", st, err)
			}
		})
	}
}

// ZooKeeper before 3.5.3 says that it knows no containers. Nodes that stay do.
func TestServerThatKnowsNoContainers(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	d := inside(t, p.Addr)
	count := 0
	p.React(answering(opCreateContainer, errUnimplemented, &count))
	st, err := d.Request(t.Context(), mutexClaim("without containers", 10*time.Second))
	p.React(nil)
	if err != nil || !st.Granted || count == 0 {
		t.Errorf("the request answers %+v, %v; a container was asked for %d times", st, err, count)
	}
}

// The second step of a request is answered with an error that says that nothing was done. The first step was.
func TestNotNowAfterTheFirstStep(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, Server(t).Addr)
	d := inside(t, p.Addr)
	c := mutexClaim("halfway", 10*time.Second)
	holder := c // behind whom the queue has to be read
	holder.ID = driver.NewID()
	if _, err := d.Request(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	count := 0
	const opGetChildren = 12
	p.React(answering(opGetChildren, -127, &count))
	_, err := d.Request(t.Context(), c)
	if !isAnswer(err) || errors.Is(err, driver.ErrUnsent) || driver.IsAnswer(err) {
		t.Errorf("a claim was queued, and the request answers %v", err)
	}
}

// isAnswer reports whether a server said this.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*driver.ServerError](err)
	return ok
}
