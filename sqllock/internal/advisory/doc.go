// Package advisory makes leases of the advisory locks of a database server (GET_LOCK, pg_advisory_lock), which belong
// to a session of the server. Each claim has a session of its own, which the server ends when it has been idle for
// the TTL. A renewal is a question on that session. A row that is written on the same session has the fencing token;
// other rows tell requests that come late how their claims ended.
//
// Claims wait in the server, which serves them in its own order. Therefore there is no queue to list, and no weight.
package advisory
