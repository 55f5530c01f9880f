-- Ends another session, if it has the lock.
SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.pid = {session} AND {held};
