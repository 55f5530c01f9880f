-- Moves the claim that has a lock to itself to the queue, and the one that was released last to those that ended, so that both
-- are where all other routines look. The row of the lock is locked. Takes the name.
CREATE FUNCTION holdfast1_spill(p_name bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO holdfast_claims (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)
	SELECT name, id, token, weight, units, ttl, deadline, since, true, false, owner, value
	FROM holdfast_locks WHERE name = p_name AND id <> '';
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT name, ended, under, true, barred FROM holdfast_locks WHERE name = p_name AND ended <> '' AND barred > holdfast1_now()
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = greatest(holdfast_ends.deadline, excluded.deadline);
	UPDATE holdfast_locks
	SET queued = queued OR id <> '', head = CASE WHEN id <> '' THEN token ELSE head END, id = '', ended = ''
	WHERE name = p_name;
END
$$;
