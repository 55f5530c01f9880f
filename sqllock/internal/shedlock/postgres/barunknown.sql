-- Notes that a claim has ended of which nothing is noted, so that no request of it that is still under way gets the lock.
INSERT INTO holdfast_guests (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, 'ended', 0, {ttl}, {now} + 2::bigint * {ttl}, {now}, '', '')
	ON CONFLICT (name, id) DO NOTHING;
