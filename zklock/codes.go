package zklock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// A code is what a ZooKeeper server answers in place of a result. It is an error for those codes for which the client
// library has none.
type code int32

func (c code) Error() string { return "zookeeper error " + strconv.Itoa(int(c)) }

// Codes that are looked for, and for which the library has no error.
const (
	errUnimplemented code = -6
	errNoSASL        code = -124
	errQuota         code = -125
)

// A meaning says what an answer tells about the request.
type meaning struct {
	code   code
	name   string // in ZooKeeper's documentation
	effect driver.Effect
	advice string
	err    error // of the library; nil if it has none
}

// Effects under short names, for the table.
const (
	refused = driver.Refused
	notNow  = driver.NotNow
	maybe   = driver.MayHaveHappened
)

// meanings has every negative code of ZooKeeper 3.5 to 3.9, those of its clients included, which other servers of the
// protocol may send. A code that is not here may have happened.
var meanings = []meaning{
	{-1, "SYSTEMERROR", maybe, "see the server's log", nil},
	{-2, "RUNTIMEINCONSISTENCY", maybe, "see the server's log", nil},
	{-3, "DATAINCONSISTENCY", maybe, "see the server's log", nil},
	{-4, "CONNECTIONLOSS", maybe, "", nil},
	{-5, "MARSHALLINGERROR", maybe, "see the server's log", nil}, // also after the change, when the answer is written
	{errUnimplemented, "UNIMPLEMENTED", refused, "the server does not know this request; use ZooKeeper 3.5.3 or newer",
		nil},
	{-7, "OPERATIONTIMEOUT", maybe, "", nil},
	{-8, "BADARGUMENTS", refused, "the server does not take the path or the data; see its log", zk.ErrBadArguments},
	{-9, "INVALIDSTATE", maybe, "", nil},
	{-12, "UNKNOWNSESSION", maybe, "", nil},
	{-13, "NEWCONFIGNOQUORUM", notNow, "", nil},
	{-14, "RECONFIGINPROGRESS", notNow, "", nil},
	{-15, "SSLCONNECTIONERROR", maybe, "", nil},
	{-100, "APIERROR", maybe, "see the server's log", zk.ErrAPIError},
	{-101, "NONODE", notNow, "", zk.ErrNoNode},
	{-102, "NOAUTH", refused, "give the URL the user that the nodes belong to, or change their ACL", zk.ErrNoAuth},
	{-103, "BADVERSION", notNow, "", zk.ErrBadVersion},
	{-108, "NOCHILDRENFOREPHEMERALS", refused, "another program uses this path; use another prefix",
		zk.ErrNoChildrenForEphemerals},
	{-110, "NODEEXISTS", notNow, "", zk.ErrNodeExists},
	{-111, "NOTEMPTY", notNow, "", zk.ErrNotEmpty},
	{-112, "SESSIONEXPIRED", maybe, "", zk.ErrSessionExpired}, // explain takes it for the end of the session
	{-113, "INVALIDCALLBACK", maybe, "", nil},
	{-114, "INVALIDACL", refused, "check the ACL, and that the URL has a user if the ACL needs one", zk.ErrInvalidACL},
	{-115, "AUTHFAILED", refused, "check the user and the password", zk.ErrAuthFailed},
	{-116, "CLOSING", maybe, "", nil}, // the library's error for it is its own word for a connection that it closes
	{-117, "NOTHING", maybe, "", zk.ErrNothing},
	{-118, "SESSIONMOVED", notNow, "", zk.ErrSessionMoved},
	{-119, "NOTREADONLY", notNow, "the server has lost the majority, and only reads; see that a majority runs", nil},
	{-120, "EPHEMERALONLOCALSESSION", refused,
		"the servers keep sessions to themselves; set localSessionsUpgradingEnabled=true on all of them", nil},
	{-121, "NOWATCHER", refused, "", nil},
	{-122, "REQUESTTIMEOUT", maybe, "", nil},
	{-123, "RECONFIGDISABLED", refused, "", zk.ErrReconfigDisabled},
	{errNoSASL, "SESSIONCLOSEDREQUIRESASLAUTH", refused,
		"the servers serve only users that they know; name one in the URL, as in zk://user:password@host, " +
			"with sasl=true if they want SASL", nil},
	{errQuota, "QUOTAEXCEEDED", refused,
		"the quota of the prefix, the chroot or a node above is used up; raise it with setquota, or use another prefix",
		nil},
	{-127, "THROTTLEDOP", notNow, "the servers have more requests than they can take", nil},
}

// answered is what a code says.
func (c code) answered() error {
	for _, m := range meanings {
		if m.code == c {
			return m.error()
		}
	}
	return meaning{code: c}.error()
}

// answerIn is what a server said that sent an error of the client library; nil when that is not an answer.
func answerIn(err error) error {
	for _, m := range meanings {
		if m.err != nil && errors.Is(err, m.err) {
			return m.error()
		}
	}
	number, unnamed := strings.CutPrefix(err.Error(), "unknown error: ") // the library's text for other codes
	if n, failed := strconv.ParseInt(number, 10, 32); unnamed && failed == nil {
		return code(n).answered()
	}
	return nil
}

func (m meaning) error() error {
	words := fmt.Sprintf("error %d", m.code)
	if m.name != "" {
		words = fmt.Sprintf("%s (%s)", m.name, words)
	}
	err := m.err
	if err == nil {
		err = m.code
	}
	return &driver.ServerError{Effect: m.effect, Words: words, Advice: m.advice, Err: err}
}

// undecided is err for a request that left something behind which could not be taken back: it says neither that nothing
// was done nor that it would be refused again.
func undecided(err error) error {
	if err = unsure(err); !isRefused(err) {
		return err
	}
	if answer, ok := errors.AsType[*driver.ServerError](err); ok {
		again := *answer
		again.Effect = driver.MayHaveHappened
		return &again
	}
	return errors.New(err.Error())
}

// unsure is err for a request of which an earlier step was done: it is not one that had no effect.
func unsure(err error) error {
	var answer *driver.ServerError
	if !errors.As(err, &answer) || answer.Effect != driver.NotNow {
		return err
	}
	again := *answer
	again.Effect = driver.MayHaveHappened
	return &again
}
