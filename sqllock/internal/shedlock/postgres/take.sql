-- Takes the lock if it is free, as ShedLock does. The row of the claim stays locked meanwhile: who ends the claim waits
-- for that, and sees what came of it. locked_at grows with each of our grants, because it is the token.
WITH claim AS MATERIALIZED
	(SELECT 1 FROM holdfast_guests WHERE name = {key} AND id = {id} AND state IN ('asks', 'waits') FOR UPDATE)
INSERT INTO {table} AS s (name, lock_until, locked_at, locked_by)
	SELECT {name}, {end}, {ms}, {by} FROM claim
	ON CONFLICT (name) DO UPDATE SET lock_until = excluded.lock_until, locked_by = excluded.locked_by,
	locked_at = GREATEST(excluded.locked_at, date_trunc('milliseconds', s.locked_at) + INTERVAL '1 millisecond')
	WHERE {free};
