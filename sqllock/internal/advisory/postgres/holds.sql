-- Returns whether a session has the lock.
SELECT EXISTS(SELECT 1 FROM pg_locks l WHERE l.pid = {session} AND {held});
