-- Returns the number of the session; the format of the tables, or 0 if none is recorded; and whether they have rows,
-- which is asked so that it fails if a table is missing.
SELECT CONNECTION_ID(), COALESCE((SELECT format FROM holdfast_store), 0), EXISTS(SELECT 1 FROM holdfast_sessions, holdfast_session_claims);
