-- Returns the number of the session, and whether the tables are there, or else fails.
SELECT pg_backend_pid(), EXISTS(SELECT 1 FROM holdfast_sessions, holdfast_session_claims);
