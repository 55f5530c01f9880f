-- Returns the number of the session, the format of the tables, and whether they are there, or else fails.
SELECT CONNECTION_ID(), COALESCE((SELECT format FROM holdfast_store), 0), EXISTS(SELECT 1 FROM holdfast_sessions, holdfast_session_claims);
