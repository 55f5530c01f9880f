-- Deletes what nobody needs any more: the ends of claims of which no late request can come, and old tokens of free
-- locks.
DELETE FROM holdfast_session_claims WHERE ctid IN
	(SELECT ctid FROM holdfast_session_claims WHERE until < {now} ORDER BY until LIMIT 200 FOR UPDATE SKIP LOCKED);
DELETE FROM holdfast_sessions WHERE ctid IN
	(SELECT ctid FROM holdfast_sessions WHERE token < {now} - {keep} AND (id = '' OR NOT EXISTS(
		SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (l.classid::bigint << 32) | l.objid::bigint
			= ('x' || encode(substring(sha256('holdfast\000'::bytea || name) FOR 8), 'hex'))::bit(64)::bigint
	))
	LIMIT 200 FOR UPDATE SKIP LOCKED);
