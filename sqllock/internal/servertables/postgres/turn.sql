-- Takes the turn to sweep: of all clients one has it, and next after a pause. Takes the pause in microseconds. Returns the
-- names of the lock and of the claim's lock after which to go on; nothing where it is too early. A turn that is further away
-- than a pause was taken before the clock was set back.
CREATE FUNCTION holdfast1_turn(p_pause bigint) RETURNS TABLE (locks bytea, claims bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	UPDATE holdfast_sweep s SET next = n.now + p_pause FROM (SELECT holdfast1_now() AS now) n
	WHERE s.id = 1 AND (s.next <= n.now OR s.next > n.now + p_pause) RETURNING s.locks, s.claims
$$;
