-- Enters the queue of a lock on behalf of those who renew many claims: carries out releases that were only noted in the row of the
-- lock, and moves a claim that has the lock to itself to the queue. It waits for no row
-- that somebody has locked, since the other claims have nothing to do with that: not for the lock's, and hardly for those of
-- claims. Takes the name. Returns whether that was done.
CREATE FUNCTION holdfast1_carry(p_name bytea) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
BEGIN
	PERFORM FROM holdfast_locks WHERE name = p_name FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	PERFORM holdfast1_enter(p_name);
	RETURN true;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;
