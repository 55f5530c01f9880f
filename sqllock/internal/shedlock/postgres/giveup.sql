-- Ends a claim that waits.
UPDATE holdfast_guests SET state = 'ended', until = GREATEST(until, {now} + 2 * ttl)
	WHERE name = {key} AND id = {id} AND state = 'waits' AND until - ttl > {now};
