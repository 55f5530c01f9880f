-- Notes that a claim without the lock has ended, so that no request of it that is still under way gets the lock.
INSERT INTO holdfast_guests (name, id, state, token, ttl, until, since, owner, value)
	VALUES ({key}, {id}, 'ended', 0, {ttl}, {now} + 2 * {ttl}, {now}, '', '')
	ON DUPLICATE KEY UPDATE until = GREATEST(until, VALUES(until)),
	state = IF(state IN ('waits', 'released'), 'released', 'ended');
