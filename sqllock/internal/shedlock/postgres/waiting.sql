-- Returns the claims of a lock that wait, or have had the lock at last, oldest first.
SELECT id, state = 'waits', token, owner, value, since, until - ttl - {now} FROM holdfast_guests
	WHERE name = {key} AND state IN ('waits', 'granted', 'alone') AND until - ttl > {now} ORDER BY since, id;
