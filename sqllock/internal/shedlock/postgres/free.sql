-- Frees the lock if the claim has it, and notes that the claim has ended thus.
WITH claim AS MATERIALIZED
	(SELECT 1 FROM holdfast_guests WHERE name = {key} AND id = {id} AND ({token} = 0 OR token = {token}) FOR UPDATE),
freed AS (UPDATE {table} AS s SET lock_until = {ms} FROM claim
	WHERE s.name = {name} AND {ours} AND s.lock_until > {time} RETURNING 1)
UPDATE holdfast_guests SET state = '{state}', until = GREATEST(until, {now} + 2::bigint * {ttl})
	WHERE name = {key} AND id = {id} AND EXISTS(SELECT 1 FROM freed);
