-- Ends another session.
KILL {session};
