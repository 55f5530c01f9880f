-- Returns how a claim ended, or that it waits; its token, if that is known; and the session that was granted the lock
-- under this token, or 0 if another one was since.
SELECT state, token, COALESCE((SELECT s.session FROM holdfast_sessions s WHERE s.name = c.name AND s.token = c.token), 0)
	FROM holdfast_session_claims c WHERE name = {name} AND id = {id} AND until > {now};
