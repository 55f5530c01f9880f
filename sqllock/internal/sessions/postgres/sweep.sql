-- Deletes what nobody needs: how claims ended, when no late request can come; and old tokens of locks that are free.
DELETE FROM holdfast_session_claims WHERE ctid IN
	(SELECT ctid FROM holdfast_session_claims WHERE until < {now} ORDER BY until LIMIT 200 FOR UPDATE SKIP LOCKED);
DELETE FROM holdfast_sessions WHERE ctid IN
	(SELECT ctid FROM holdfast_sessions WHERE id = '' AND token < {now} - {keep} LIMIT 200 FOR UPDATE SKIP LOCKED);
