-- Waits for the lock as long as the session's lock_timeout allows, and fails then. Returns what try returns, as it was
-- before the wait.
SELECT pg_backend_pid(), pg_advisory_lock({key}) IS NOT NULL, FALSE,
	EXISTS(SELECT 1 FROM holdfast_sessions WHERE name = {name} AND id = {id});
