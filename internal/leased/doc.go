// Package leased is what drivers have in common whose engine ends the claims of a client that died: by a lease of
// etcd, by a session of ZooKeeper. It talks to no server.
//
// One lease serves many claims, so it does not end when one of them is no longer renewed. A client therefore keeps
// a registry of the claims that it requested ([Claims]), each with the instant until which it lives
// ([Claim.Live]), and takes out of the queue those that nobody renewed. It also keeps the IDs of those whose end
// the server may not know, so that a late copy of a request finds that its claim has ended ([Claims.Remember]).
//
// What a queue means for one of its claims is a [Verdict]: whether it is granted, and otherwise what to watch.
// [Judge] restates the rule of [driver.Granted] for claims that are read from the server.
//
// Sending requests and watching differ from engine to engine, and stay with the drivers. So does taking over claims of
// other clients, which a lease of etcd allows and a session of ZooKeeper does not.
package leased
