-- Returns the token of a claim that was granted, its session, and whether that session still has the lock.
SELECT token, session, EXISTS(SELECT 1 FROM pg_locks l WHERE l.pid = s.session AND {held})
	FROM holdfast_sessions s WHERE name = {name} AND id = {id};
