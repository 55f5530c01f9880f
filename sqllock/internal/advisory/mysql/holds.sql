-- Returns whether a session has the lock.
SELECT COALESCE(IS_USED_LOCK({key}) = {session}, 0);
