-- Waits {wait} seconds for the lock, unless the claim has ended. Returns the number of the session; whether it has the
-- lock; whether the claim has ended; and whether it was granted before, to another session.
SELECT CONNECTION_ID(), IF(e.ended, 0, COALESCE(GET_LOCK({key}, {wait}), 0)), e.ended,
	EXISTS(SELECT 1 FROM holdfast_sessions WHERE name = {name} AND id = {id})
	FROM (SELECT EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}) AS ended) AS e;
