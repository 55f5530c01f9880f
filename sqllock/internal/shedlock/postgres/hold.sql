-- Prolongs the lock of a claim that has it, and notes that it does. A claim that was left alone is prolonged by what
-- leaves it alone. The last token stays for as long as the clock has not overtaken it.
WITH claim AS MATERIALIZED (SELECT 1 FROM holdfast_guests WHERE name = {key} AND id = {id}
	AND (state IN ('asks', 'waits', 'granted') OR state = 'alone' AND {alone}) AND ({token} = 0 OR token = {token}) FOR UPDATE),
last AS MATERIALIZED (SELECT 1 FROM holdfast_guests l, claim WHERE l.name = {key} AND l.id = '' FOR UPDATE OF l),
held AS (UPDATE {table} AS s SET lock_until = {end} FROM last
	WHERE s.name = {name} AND {ours} AND s.lock_until > {time} RETURNING s.locked_at),
noted AS (UPDATE holdfast_guests SET token = GREATEST(token, (EXTRACT(epoch FROM held.locked_at) * 1000)::bigint),
	until = GREATEST(until, {now} + 2::bigint * {ttl}, (EXTRACT(epoch FROM held.locked_at) * 1000000)::bigint)
	FROM held WHERE name = {key} AND id = '')
UPDATE holdfast_guests SET state = CASE WHEN {alone} THEN 'alone' ELSE 'granted' END, ttl = {ttl},
	until = GREATEST(until, {now} + 2::bigint * {ttl}), token = (EXTRACT(epoch FROM held.locked_at) * 1000)::bigint
	FROM held WHERE name = {key} AND id = {id};
