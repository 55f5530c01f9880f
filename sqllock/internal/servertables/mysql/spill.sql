-- Moves the claim that has a lock to itself to the queue, and the one that was released last to those that ended, so that both
-- are where all other routines look. The row of the lock is locked. Takes the name.
CREATE PROCEDURE holdfast1_spill(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	INSERT INTO holdfast_claims (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)
	SELECT name, id, token, weight, units, ttl, deadline, since, 1, 0, owner, value
	FROM holdfast_locks WHERE name = p_name AND id <> '';
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT l.name, l.ended, l.under, 1, l.barred FROM holdfast_locks l
	WHERE l.name = p_name AND l.ended <> '' AND l.barred > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
	ON DUPLICATE KEY UPDATE
		token = VALUES(token), released = VALUES(released),
		deadline = GREATEST(holdfast_ends.deadline, VALUES(deadline));
	UPDATE holdfast_locks SET queued = queued OR id <> '', id = '', ended = '' WHERE name = p_name;
END
