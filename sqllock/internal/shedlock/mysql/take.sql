-- Takes the lock if it is free, as ShedLock does. The row of the claim stays locked meanwhile: who ends the claim waits
-- for that, and sees what came of it. locked_at grows with each of our grants, because it is the token: it is more than
-- the last one even where another program has written an earlier time since. A row whose name only compares as equal,
-- such as one in upper case, is left alone. lock_until is set last: the others look at it.
INSERT INTO {table} (name, lock_until, locked_at, locked_by)
	SELECT {name}, {end}, GREATEST({ms}, TIMESTAMPADD(MICROSECOND, (l.token + 1) * 1000, TIMESTAMP '1970-01-01 00:00:00')), {by}
	FROM holdfast_guests g JOIN holdfast_guests l ON l.name = g.name AND l.id = ''
	WHERE g.name = {key} AND g.id = {id} AND g.state IN ('asks', 'waits') FOR UPDATE
	ON DUPLICATE KEY UPDATE
	{table}.locked_at = IF({free}, COALESCE(GREATEST(VALUES(locked_at), {table}.locked_at + INTERVAL 1000 MICROSECOND), VALUES(locked_at)), {table}.locked_at),
	{table}.locked_by = IF({free}, VALUES(locked_by), {table}.locked_by),
	{table}.lock_until = IF({free}, VALUES(lock_until), {table}.lock_until);
