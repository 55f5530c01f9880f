-- Returns the number of the session; whether it has the lock, which it does as long as it lives; whether another
-- client has ended the claim; and whether others wait.
SELECT pg_backend_pid(), TRUE,
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id <> {id} AND state = 'waiting' AND until > {now});
