-- Notes that a claim asks for the lock, or waits for it, unless it has the lock or has ended. The row without an ID keeps
-- the last token.
INSERT INTO holdfast_guests (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, '{state}', 0, {ttl}, {now} + 2 * {ttl}, {now}, {owner}, {value}),
	({key}, '', 'last', 0, {ttl}, {now} + 2 * {ttl}, {now}, '', '')
	ON DUPLICATE KEY UPDATE ttl = IF(state IN ('asks', 'waits', 'last'), VALUES(ttl), ttl),
	until = IF(state IN ('asks', 'waits', 'last'), GREATEST(until, VALUES(until)), until),
	state = IF(state IN ('asks', 'waits', 'last'), VALUES(state), state);
