-- Notes that a claim asks for the lock, or waits for it, unless it has the lock or has ended. The row without an ID keeps
-- the last token.
INSERT INTO holdfast_guests AS g (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, '{state}', 0, {ttl}, {now} + 2::bigint * {ttl}, {now}, {owner}, {value}),
	({key}, '', 'last', 0, {ttl}, {now} + 2::bigint * {ttl}, {now}, '', '')
	ON CONFLICT (name, id) DO UPDATE SET state = excluded.state, ttl = excluded.ttl, until = GREATEST(g.until, excluded.until)
	WHERE g.state IN ('asks', 'waits', 'last');
