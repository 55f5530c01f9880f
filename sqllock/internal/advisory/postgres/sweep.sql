-- Deletes what nobody needs any more: the ends of claims of which no late request can come, and old tokens of free
-- locks.
DELETE FROM holdfast_session_claims WHERE ctid IN
	(SELECT ctid FROM holdfast_session_claims WHERE until < {now} ORDER BY until LIMIT 200 FOR UPDATE SKIP LOCKED);
DELETE FROM holdfast_sessions WHERE ctid IN
	(SELECT ctid FROM holdfast_sessions WHERE token < {now} - {keep} AND {free} LIMIT 200 FOR UPDATE SKIP LOCKED);
