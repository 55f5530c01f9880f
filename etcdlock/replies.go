package etcdlock

import (
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/driver"
)

// A reply is one of the errors with which etcd answers.
type reply struct {
	err    error // as the server sends it
	effect driver.Effect
	advice string
}

const (
	mayHaveHappened = driver.MayHaveHappened
	notNow          = driver.NotNow
	refused         = driver.Refused
)

const (
	shorten   = "give the claim a shorter owner and value"
	ofLearner = "a learner serves no locks until it votes; name members that vote"
	fullStore = "compact and defragment the store, then disarm its alarm: etcdctl alarm disarm"
)

// replies are all errors of etcd, by package rpctypes. What is not among them may have happened.
//
// The server checks most of what it refuses before it does anything, and so it does what it turns away. A store that is
// full is an exception: where it fills up while a request is on its way, that request is done and refused; see isDone.
var replies = []reply{
	{rpctypes.ErrGRPCPermissionDenied, refused, "grant the user's role read and write permission on the prefix"},
	{rpctypes.ErrGRPCAuthFailed, refused, "check the user and the password; a program keeps those it began with"},
	{rpctypes.ErrGRPCUserEmpty, refused, "authentication is on; give a user and a password"},
	{rpctypes.ErrGRPCAuthNotEnabled, refused, "authentication is off; leave the user out"},
	{rpctypes.ErrGRPCNoSpace, refused, fullStore},
	{rpctypes.ErrGRPCRequestTooLarge, refused, shorten},
	{rpctypes.ErrGRPCLeaseTTLTooLarge, refused, "use a shorter TTL"},
	{rpctypes.ErrGRPCTooManyOps, refused, "start etcd with --max-txn-ops 128, its default, or more"},
	{rpctypes.ErrGRPCNotSupportedForLearner, refused, ofLearner},
	{rpctypes.ErrGRPCCorrupt, refused, "replace the member whose data are damaged, then run etcdctl alarm disarm"},

	{rpctypes.ErrGRPCRequestTooManyRequests, notNow, "it has more to do than it keeps up with; look at its disk"},
	{rpctypes.ErrGRPCLeaseNotFound, notNow, ""},
	{rpctypes.ErrGRPCNotLeader, notNow, ""},
	{rpctypes.ErrGRPCNotCapable, notNow, "it is being upgraded"},
	{rpctypes.ErrGRPCInvalidAuthToken, notNow, "the token has ended; the next request gets another"},
	{rpctypes.ErrGRPCAuthOldRevision, notNow, "users or roles were changed; the next request gets another token"},

	{rpctypes.ErrGRPCNoLeader, mayHaveHappened, "start the other members, or let them reach each other"},
	{rpctypes.ErrGRPCLeaderChanged, mayHaveHappened, ""},
	{rpctypes.ErrGRPCStopped, mayHaveHappened, ""},
	{rpctypes.ErrGRPCTimeout, mayHaveHappened, slowCluster},
	{rpctypes.ErrGRPCTimeoutDueToLeaderFail, mayHaveHappened, ""},
	{rpctypes.ErrGRPCTimeoutDueToConnectionLost, mayHaveHappened, "let the members reach each other"},
	{rpctypes.ErrGRPCTimeoutWaitAppliedIndex, mayHaveHappened, slowCluster},
	{rpctypes.ErrGRPCUnhealthy, mayHaveHappened, ""},
	{rpctypes.ErrGRPCWatchCanceled, mayHaveHappened, ""},
	{rpctypes.ErrGRPCCanceled, mayHaveHappened, ""},
	{rpctypes.ErrGRPCDeadlineExceeded, mayHaveHappened, ""},

	// Of what follows, no request of ours should get one.
	{rpctypes.ErrGRPCEmptyKey, refused, ""},
	{rpctypes.ErrGRPCKeyNotFound, refused, ""},
	{rpctypes.ErrGRPCValueProvided, refused, ""},
	{rpctypes.ErrGRPCLeaseProvided, refused, ""},
	{rpctypes.ErrGRPCDuplicateKey, refused, ""},
	{rpctypes.ErrGRPCInvalidClientAPIVersion, refused, ""},
	{rpctypes.ErrGRPCInvalidSortOption, refused, ""},
	{rpctypes.ErrGRPCCompacted, refused, ""},
	{rpctypes.ErrGRPCFutureRev, refused, ""},
	{rpctypes.ErrGRPCLeaseExist, refused, ""},
	{rpctypes.ErrGRPCMemberExist, refused, ""},
	{rpctypes.ErrGRPCPeerURLExist, refused, ""},
	{rpctypes.ErrGRPCMemberNotEnoughStarted, refused, ""},
	{rpctypes.ErrGRPCMemberBadURLs, refused, ""},
	{rpctypes.ErrGRPCMemberNotFound, refused, ""},
	{rpctypes.ErrGRPCMemberNotLearner, refused, ""},
	{rpctypes.ErrGRPCLearnerNotReady, refused, ""},
	{rpctypes.ErrGRPCTooManyLearners, refused, ""},
	{rpctypes.ErrGRPCClusterIDMismatch, refused, ""},
	{rpctypes.ErrGRPCRootUserNotExist, refused, ""},
	{rpctypes.ErrGRPCRootRoleNotExist, refused, ""},
	{rpctypes.ErrGRPCUserAlreadyExist, refused, ""},
	{rpctypes.ErrGRPCUserNotFound, refused, ""},
	{rpctypes.ErrGRPCRoleAlreadyExist, refused, ""},
	{rpctypes.ErrGRPCRoleNotFound, refused, ""},
	{rpctypes.ErrGRPCRoleEmpty, refused, ""},
	{rpctypes.ErrGRPCPermissionNotGiven, refused, ""},
	{rpctypes.ErrGRPCRoleNotGranted, refused, ""},
	{rpctypes.ErrGRPCPermissionNotGranted, refused, ""},
	{rpctypes.ErrGRPCInvalidAuthMgmt, refused, ""},
	{rpctypes.ErrGRPCBadLeaderTransferee, refused, ""},
	{rpctypes.ErrGRPCWrongDowngradeVersionFormat, refused, ""},
	{rpctypes.ErrGRPCInvalidDowngradeTargetVersion, refused, ""},
	{rpctypes.ErrGRPCClusterVersionUnavailable, refused, ""},
	{rpctypes.ErrGRPCDowngradeInProcess, refused, ""},
	{rpctypes.ErrGRPCNoInflightDowngrade, refused, ""},
}

const slowCluster = "see that the members have a leader, and look at their disks and at the network between them"

// byWords are the replies by what they say.
var byWords = func() map[string]reply {
	m := make(map[string]reply)
	for _, a := range replies {
		m[rpctypes.ErrorDesc(a.err)] = a
	}
	return m
}()

// foreign are replies that etcd does not give: those of servers that serve a part of its API, of proxies, and of what
// gRPC makes of HTTP statuses.
var foreign = map[codes.Code]reply{
	codes.InvalidArgument:  {effect: refused, advice: notEtcd},
	codes.Unimplemented:    {effect: refused, advice: notEtcd},
	codes.PermissionDenied: {effect: refused},
	codes.Unauthenticated:  {effect: refused},

	codes.NotFound: {}, codes.AlreadyExists: {}, codes.FailedPrecondition: {}, codes.OutOfRange: {},
	codes.Aborted: {}, codes.DataLoss: {}, codes.Unknown: {}, codes.ResourceExhausted: {},
}

const notEtcd = "is it etcd? Servers with a part of its API, such as kine, cannot keep locks"

// unsupported is what servers say, with the code Unknown, of what they do not do.
var unsupported = []string{"is not supported", "is unsupported", "unsupported transaction"}

// badGateway is what gRPC says, under several codes, of a proxy that answers in the server's place.
const badGateway = "unexpected HTTP status code received from server"

// serverError returns what a server answered, or nil if the error is none of a server.
func serverError(err error) *driver.ServerError {
	words := saidBy(err)
	if a, ok := byWords[words]; ok {
		return &driver.ServerError{Effect: a.effect, Words: words, Advice: a.advice, Err: err}
	}
	said, ok := status.FromError(err)
	if !ok || said.Code() == codes.OK {
		return nil
	}
	a, ok := foreign[said.Code()]
	switch {
	case !ok && !strings.Contains(words, badGateway):
		return nil
	case said.Code() == codes.Unknown && says(err, unsupported...):
		a = foreign[codes.Unimplemented]
	}
	return &driver.ServerError{
		Effect: a.effect, Words: said.Code().String() + ": " + said.Message(), Advice: a.advice, Err: err,
	}
}

// saidBy is what the server said; what gRPC said where none did.
func saidBy(err error) string {
	var known rpctypes.EtcdError
	if errors.As(err, &known) {
		return known.Error()
	}
	return rpctypes.ErrorDesc(err)
}

// isDone reports whether a refusal may have come after the effect. A store notices that it is full when a request is
// done for which there was room when it came.
func isDone(err error) bool { return errors.Is(err, rpctypes.ErrNoSpace) }

// repeatedly is an error of a request that was sent more than once: one that was not answered may have been done.
func repeatedly(err error) error {
	var server *driver.ServerError
	if !errors.As(err, &server) || server.Effect != driver.NotNow {
		return err
	}
	doubtful := *server
	doubtful.Effect = driver.MayHaveHappened
	return &doubtful
}
