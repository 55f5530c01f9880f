// Package sessions keeps locks that belong to database sessions (GET_LOCK, pg_advisory_lock) as leases: the session is the
// claim's own, and the server ends it when it has been idle for the TTL. A renewal is a question on that session. A row
// written on the same session has the fencing token, and says how claims ended to requests that come late.
//
// What waits, waits in the server, whose order is its own business. So there is no queue to list, and no weight.
package advisory
