package proof

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
)

// buildCommand builds the command for the visitors who run something under a lock, if there are any.
func buildCommand(t testing.TB, s Schedule) (program string) {
	t.Helper()
	runs := func(steps []Step) bool {
		return slices.ContainsFunc(steps, func(s Step) bool { return s.Verb == Command })
	}
	if !slices.ContainsFunc(s.Visitors, runs) {
		return ""
	}
	program = t.TempDir() + "/holdfast"
	build := exec.Command("go", "build", "-trimpath", "-o", program, "github.com/holdfast-go/holdfast/cmd/holdfast")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// command is a visit of `holdfast run`, whose child is inside, and tells what it sees.
func (v *visitor) command(s Step) {
	visit := v.newVisits(s)[0]
	child := v.order
	child.Section = &s
	text, err := json.Marshal(child)
	if err != nil {
		panic(err) // it was read from JSON
	}
	cmd := exec.Command(v.Program, "run", "--ttl", v.TTL.String(), "--wait", s.Within.String(), s.Lock, "--",
		os.Args[0])
	cmd.Env = append(os.Environ(), "HOLDFAST_BACKEND="+v.URL, orderVariable+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err) // nobody set it before
	}
	visit.Call = now()
	v.tell(told{Asks: []*Visit{visit}})
	if err := cmd.Start(); err != nil {
		visit.Return, visit.Outcome = now(), history.Unknown
		v.tell(told{Out: []*Visit{visit}})
		return
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var said told
		if json.Unmarshal(lines.Bytes(), &said) == nil && len(said.Inside) == 1 {
			inside := said.Inside[0]
			visit.Outcome, visit.Token = history.Got, inside.Token
			visit.Return, visit.Seen, visit.Gap = inside.Return, inside.Seen, inside.Gap
			v.tell(told{Inside: []*Visit{visit}})
		}
	}
	err = cmd.Wait()
	visit.Left = now()
	visit.Leave = max(visit.Return, visit.Seen) // the child ended then, or later
	visit.end(err)
	if brokeDown(err) {
		visit.Odd = fmt.Sprintf("the command, or what it ran, broke down: %v", err)
	}
	v.tell(told{Out: []*Visit{visit}})
}

// Exit codes of the command: see docs/command.md.
const (
	notAcquired = 75
	lostIt      = 76
)

// end says how a visit of the command ended, by how that ended.
func (v *Visit) end(err error) {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	switch {
	case v.Token != 0 && code == 0:
		v.Ended = history.Released
	case v.Token != 0 && code == lostIt:
		v.Ended = history.Lost
	case v.Token != 0:
		v.Ended = history.Unclear
	case code == notAcquired:
		v.Outcome, v.Return = history.GaveUp, v.Left
	default:
		v.Outcome, v.Return = history.Unknown, v.Left
	}
}

// child is inside for as long as it lives: the command ends it, if need be, before the lock is anybody else's.
func (v *visitor) child(s Step) error {
	token, err := strconv.ParseUint(os.Getenv("HOLDFAST_TOKEN"), 10, 64)
	if err != nil {
		return err
	}
	visit := v.newVisits(s)[0]
	visit.Token, visit.Return = token, now()
	number := v.touch(Touch{Visitor: v.Visitor, Lock: s.Lock, Token: token})
	for last, until := now(), visit.Return+s.Stays; ; time.Sleep(v.TTL / 50) {
		visit.Seen = now()
		visit.Gap, last = max(visit.Gap, visit.Seen-last), visit.Seen
		v.tell(told{Inside: []*Visit{visit}})
		if visit.Seen >= until {
			break
		}
	}
	if !number.Refused {
		number.Write = true
		number.Value++
		v.touch(number)
	}
	return nil
}
