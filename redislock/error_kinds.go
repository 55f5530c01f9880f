package redislock

import "github.com/holdfast-go/holdfast/driver"

// An errorKind is what one kind of error that the server answers means. Kinds are told apart by their first word, the
// code, where they have one, and by a phrase otherwise.
type errorKind struct {
	code   string // the first word; "" for any
	phrase string // a part of the words
	effect driver.Effect
	advice string

	// first says that a script that ends with this error has changed nothing before. Other errors of a command in a
	// script may come after its writes, whatever their effect is outside.
	first bool
}

// Advice that several kinds share.
const (
	// permit is for a user who lacks a permission that a driver needs.
	permit = "let the user run EVAL, EVALSHA, SUBSCRIBE, SCAN and the commands of the scripts, " +
		"on the keys and channels under the prefix; docs/redis.md has the ACL"

	upgrade    = "the server must be Redis 7.0 or newer, or Valkey"
	useMember  = "this server is part of a cluster; use a URL like " + likeCluster
	passes     = "it usually passes within seconds"
	movingSlot = "the cluster moves the slot of this lock to another node; " + passes
	endScript  = "a script keeps the server busy; SCRIPT KILL ends one that has written nothing"
	credit     = "check the user and the password; with passfile= a new one is read without a restart"
)

// errorKinds are the errors of Redis 7.0 to 8.x, of Valkey, of sentinels, and of proxies before them. A row comes
// before those that it is an exception to. What is not here may have happened: see [driver.MayHaveHappened].
//
// Redis looks at everything that can refuse a command before it runs the command, and does the same for a script when
// it begins. So most refusals, also those that pass, come before the effect.
var errorKinds = []errorKind{
	// Our own scripts.
	{
		code: "HOLDFASTVERSION", effect: driver.Refused, first: true,
		advice: "this is the format in which the lock is stored, and this program does not know it; " +
			"run the same version of holdfast everywhere",
	},

	// The user and the password.
	{code: "NOAUTH", effect: driver.Refused, advice: "give a user and a password in the URL"},
	{code: "WRONGPASS", effect: driver.Refused, advice: credit},
	{phrase: "invalid password", effect: driver.Refused, advice: credit},
	{
		phrase: "called without any password configured", effect: driver.Refused,
		advice: "leave the password out, or set one on the server",
	},
	{
		phrase: "but no password is set", effect: driver.Refused,
		advice: "leave the password out, or set one on the server",
	},
	// The request of a user who may not run one of the commands in a script is undone, see request.go.
	{phrase: "The user executing the script can't", effect: driver.Refused, first: true, advice: permit}, // Redis 7.0
	{phrase: "ACL failure in script", effect: driver.Refused, first: true, advice: permit},               // later ones
	{code: "NOPERM", effect: driver.Refused, first: true, advice: permit},
	{
		code: "DENIED", effect: driver.Refused,
		advice: "set a password on the server, or protected-mode no where only friends reach it",
	},

	// The request and what is stored.
	{
		code: "WRONGTYPE", effect: driver.Refused, first: true,
		advice: "something else is stored under the lock's keys; use another name or prefix",
	},
	{phrase: "DB index is out of range", effect: driver.Refused, advice: "choose a database that exists"},
	{phrase: "SELECT is not allowed in cluster mode", effect: driver.Refused, advice: useMember},
	{
		phrase: "unknown command 'SENTINEL'", effect: driver.Refused,
		advice: "this server is not a sentinel; use a URL like " + likeServer,
	},
	{
		phrase: "No such master with that name", effect: driver.Refused,
		advice: "the sentinels do not know the name after the hosts; SENTINEL MASTERS lists the names they know",
	},
	{
		phrase: "unknown command", effect: driver.Refused,
		advice: upgrade + ", and allow scripts; for sentinels use a URL like " + likeSentinel,
	},
	{
		phrase: "unsupported command", effect: driver.Refused,
		advice: "a proxy before the server does not pass scripts on; connect to the server itself",
	},
	{phrase: "Error compiling script", effect: driver.Refused, advice: upgrade},
	{phrase: "Unexpected flag in script shebang", effect: driver.Refused, advice: upgrade},
	{phrase: "Unexpected engine in script shebang", effect: driver.Refused, advice: upgrade},
	{code: "NOPROTO", effect: driver.Refused, advice: upgrade},

	// Where it is asked.
	{code: "MOVED", effect: driver.Refused, advice: useMember},
	{code: "ASK", effect: driver.NotNow, advice: movingSlot},
	{code: "TRYAGAIN", effect: driver.NotNow, advice: movingSlot},
	{code: "CROSSSLOT", effect: driver.Refused, advice: needsOneServer},
	{phrase: "cluster support disabled", effect: driver.Refused, advice: "use a URL like " + likeServer},
	{
		code: "CLUSTERDOWN", effect: driver.NotNow,
		advice: "nodes of the cluster are down, or slots belong to no node; CLUSTER INFO on a node tells more",
	},
	{
		code: "READONLY", effect: driver.NotNow,
		advice: "this server is a replica; if it does not become the primary soon, connect to the primary, " +
			"or open a redis-sentinel: URL, which finds the primary",
	},
	{
		code: "MASTERDOWN", effect: driver.NotNow,
		advice: "this server is a replica that has lost its primary; connect to the primary, " +
			"or open a redis-sentinel: URL, which finds the primary",
	},
	{phrase: "no upstream host", effect: driver.NotNow, advice: "a proxy before the server does not reach it"},

	// When it is asked.
	{code: "LOADING", effect: driver.NotNow, advice: "the server has just started and reads its data; " + passes},
	{code: "BUSY", effect: driver.NotNow, advice: endScript},
	// Only a script that has written nothing can be killed.
	{phrase: "Script killed by user", effect: driver.NotNow, first: true, advice: "somebody called SCRIPT KILL"},
	{
		phrase: "max number of clients", effect: driver.NotNow,
		advice: "the server is full: raise maxclients there, or close connections that nobody uses",
	},
	{
		code: "OOM", effect: driver.NotNow,
		advice: "the server's memory is full: give it more, or free some; " +
			"locks that are held are still renewed and released",
	},
	{
		code: "MISCONF", effect: driver.NotNow,
		advice: "the server cannot write to its disk, so it takes no writes: make room there, or repair it",
	},
	{
		code: "NOREPLICAS", effect: driver.NotNow,
		advice: "too few replicas follow the primary, so it takes no writes; check the replicas",
	},
	{code: "NOSCRIPT", effect: driver.NotNow, advice: "the server forgets its scripts; has it little memory?"},
	{code: "EXECABORT", effect: driver.NotNow},
}
