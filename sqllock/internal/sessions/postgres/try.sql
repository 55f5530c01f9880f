-- Tries to get the lock. Returns the number of the session; whether it has the lock; whether the claim has ended; and
-- whether it was granted before, to another session.
SELECT pg_backend_pid(), pg_try_advisory_lock({key}),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}),
	EXISTS(SELECT 1 FROM holdfast_sessions WHERE name = {name} AND id = {id});
