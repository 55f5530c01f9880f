-- Notes that a claim without the lock has ended, so that no request of it that is still under way gets the lock.
INSERT INTO holdfast_guests AS g (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, 'ended', 0, {ttl}, {now} + 2::bigint * {ttl}, {now}, '', '')
	ON CONFLICT (name, id) DO UPDATE SET until = GREATEST(g.until, excluded.until),
	state = CASE WHEN g.state IN ('waits', 'released') THEN 'released' ELSE 'ended' END;
