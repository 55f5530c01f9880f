-- Returns the number of the session, and whether the tables are there, or else fails.
SELECT CONNECTION_ID(), EXISTS(SELECT 1 FROM holdfast_sessions, holdfast_session_claims);
