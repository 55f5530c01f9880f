-- Tries to get the lock, unless the claim has ended. Returns the number of the session; whether it has the lock; whether
-- the claim has ended; and whether it was granted before, to another session.
SELECT pg_backend_pid(), CASE WHEN e.ended THEN FALSE ELSE pg_try_advisory_lock({key}) END, e.ended,
	EXISTS(SELECT 1 FROM holdfast_sessions WHERE name = {name} AND id = {id})
	FROM (SELECT EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}) AS ended) AS e;
