package redislock

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

var errNotUnderstood = errors.New("redis: a script returned an unexpected answer")

// URLs as messages show them.
const (
	likeServer   = "redis://localhost:6379"
	likeSentinel = "redis-sentinel://host1,host2,host3/mymaster"
	likeCluster  = "redis-cluster://host1,host2"
)

// needsOneServer says why a foreign layout is refused in a cluster. A client that takes a node of a cluster for a
// single server finds out by CROSSSLOT, with the same words.
const needsOneServer = "locks of other libraries need one server, as their keys lie on different nodes of a cluster"

// explain turns an error that the server answered into a [driver.ServerError], which says whether the server may have
// done what it was asked for, and what to do. Other errors stay as they are.
func explain(err error) error {
	if _, explained := errors.AsType[*driver.ServerError](err); explained {
		return err
	}
	reply, ok := errors.AsType[ReplyError](err)
	if !ok {
		return err
	}
	words := wordsOf(reply)
	k := kindOf(words)
	return &driver.ServerError{
		Effect: k.effect, Words: inWhichScript().ReplaceAllString(words, ""), Advice: k.advice, Err: reply,
	}
}

// inWhichScript is what Redis adds to an error of a script. Err keeps it, and users can do nothing with it.
var inWhichScript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` script: \w+, on @user_script:\d+\.?$`)
})

// longestWords is about how long an error is whose words are shown in full. A few go on with instructions.
const longestWords = 240

// wordsOf is what the server said, without the arguments that it repeats: one of them may be a password.
func wordsOf(reply ReplyError) string {
	text := strings.TrimPrefix(string(reply), "ERR ") // which not every client passes on
	text, _, _ = strings.Cut(text, ", with args beginning with")
	if len(text) > longestWords {
		text, _, _ = strings.Cut(text, ". ")
	}
	return text
}

// kindOf finds the kind of an error by its words. The zero kind, of errors that are not in the table, may have come
// after the effect.
func kindOf(words string) errorKind {
	code, _, _ := strings.Cut(words, " ")
	inScript := strings.Contains(words, "user_script")
	for _, k := range errorKinds {
		if k.code != "" && k.code != code || !strings.Contains(words, k.phrase) {
			continue
		}
		if inScript && !k.first {
			k.effect = driver.MayHaveHappened
		}
		return k
	}
	return errorKind{}
}

// deniedInScript reports whether a script was ended because its user may not run one of its commands. It may have
// written before that.
func deniedInScript(err error) bool {
	server, ok := errors.AsType[*driver.ServerError](err)
	return ok && server.Advice == permit && strings.Contains(server.Words, "script")
}

// unsure is an error of a request that may have had an effect, whatever the server's words alone would mean.
func unsure(err error) error {
	server, ok := errors.AsType[*driver.ServerError](err)
	if !ok {
		return err
	}
	doubtful := *server
	doubtful.Effect = driver.MayHaveHappened
	return &doubtful
}

func isNoScript(err error) bool {
	reply, ok := errors.AsType[ReplyError](err)
	return ok && strings.HasPrefix(string(reply), "NOSCRIPT")
}
