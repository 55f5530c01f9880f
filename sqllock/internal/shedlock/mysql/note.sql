-- Notes that a claim asks for the lock, or waits for it, unless it has the lock or has ended.
INSERT INTO holdfast_guests (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, '{state}', 0, {ttl}, {now} + 2 * {ttl}, {now}, {owner}, {value})
	ON DUPLICATE KEY UPDATE ttl = IF(state IN ('asks', 'waits'), VALUES(ttl), ttl),
	until = IF(state IN ('asks', 'waits'), GREATEST(until, VALUES(until)), until),
	state = IF(state IN ('asks', 'waits'), VALUES(state), state);
