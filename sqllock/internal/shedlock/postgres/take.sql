-- Takes the lock if it is free, as ShedLock does. The row of the claim stays locked meanwhile: who ends the claim waits
-- for that, and sees what came of it. locked_at grows with each of our grants, because it is the token: it is more than
-- the last one even where another program has written an earlier time since.
WITH claim AS MATERIALIZED
	(SELECT 1 FROM holdfast_guests WHERE name = {key} AND id = {id} AND state IN ('asks', 'waits') FOR UPDATE),
last AS MATERIALIZED (SELECT l.token FROM holdfast_guests l, claim WHERE l.name = {key} AND l.id = '' FOR UPDATE OF l)
INSERT INTO {table} AS s (name, lock_until, locked_at, locked_by)
	SELECT {name}, {end}, GREATEST({ms}, TIMESTAMP 'epoch' + (last.token + 1) * INTERVAL '1 millisecond'), {by} FROM last
	ON CONFLICT (name) DO UPDATE SET lock_until = excluded.lock_until, locked_by = excluded.locked_by,
	locked_at = GREATEST(excluded.locked_at, date_trunc('milliseconds', s.locked_at) + INTERVAL '1 millisecond')
	WHERE {free};
