-- Returns the state of a claim and its token, or '' and 0; the name by which the lock is in the table, or ''; whether
-- the claim has the lock; for how many microseconds the lock is taken, at most 0 if it is free; and whether others wait.
SELECT COALESCE(RTRIM(g.state), ''), COALESCE(g.token, 0), COALESCE(s.name, ''), COALESCE({ours} AND s.lock_until > {time}, FALSE),
	COALESCE(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), s.lock_until), 0),
	EXISTS(SELECT 1 FROM holdfast_guests w WHERE w.name = {key} AND w.id <> {id} AND w.state = 'waits' AND w.until - w.ttl > {now})
	FROM (SELECT 1 AS one) AS one LEFT JOIN holdfast_guests g ON g.name = {key} AND g.id = {id} LEFT JOIN {table} s ON s.name = {name};
