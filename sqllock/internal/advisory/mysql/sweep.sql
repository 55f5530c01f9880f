-- Deletes what nobody needs any more: the ends of claims of which no late request can come, and old tokens of free
-- locks.
DELETE FROM holdfast_session_claims WHERE until < {now} LIMIT 200;
DELETE FROM holdfast_sessions WHERE token < {now} - {keep} AND (id = '' OR
	IS_FREE_LOCK(CONCAT('hf:', LEFT(SHA2(CONCAT(DATABASE(), '/', SHA2(name, 256)), 256), 60)))) LIMIT 200;
