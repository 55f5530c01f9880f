-- Waits for the lock as long as the session's lock_timeout allows. The block catches the end of a wait, which the server
-- would otherwise log as an error. Returns what try returns.
DO $$BEGIN PERFORM pg_advisory_lock({key}); EXCEPTION WHEN lock_not_available THEN NULL; END$$;
SELECT pg_backend_pid(), EXISTS(SELECT 1 FROM pg_locks l WHERE l.pid = pg_backend_pid() AND {held}),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}),
	EXISTS(SELECT 1 FROM holdfast_sessions WHERE name = {name} AND id = {id});
