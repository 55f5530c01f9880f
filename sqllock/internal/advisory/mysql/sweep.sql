-- Deletes what nobody needs any more: the ends of claims of which no late request can come, and old tokens of free
-- locks.
DELETE FROM holdfast_session_claims WHERE until < {now} LIMIT 200;
DELETE FROM holdfast_sessions WHERE token < {now} - {keep} AND {free} LIMIT 200;
