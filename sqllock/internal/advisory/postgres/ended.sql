-- Returns the state of a claim (waiting, or how it ended); its token, if that is known; and the session that was granted
-- the lock under this token, or 0 if the lock was granted to another one since.
SELECT state, token, COALESCE((SELECT s.session FROM holdfast_sessions s WHERE s.name = c.name AND s.token = c.token), 0)
	FROM holdfast_session_claims c WHERE name = {name} AND id = {id} AND until > {now};
