-- Returns the token of a claim that was granted, its session, and whether that session still has the lock.
SELECT token, session, COALESCE(IS_USED_LOCK({key}) = session, 0) FROM holdfast_sessions WHERE name = {name} AND id = {id};
