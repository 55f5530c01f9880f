-- Takes the turn to sweep: of all clients one has it, and next after a pause. Takes the pause in microseconds. Returns the
-- names of the lock and of the claim's lock after which to go on; nothing where it is too early. A turn that is further away
-- than a pause was taken before the clock was set back.
CREATE PROCEDURE holdfast1_turn(p_pause BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	UPDATE holdfast_sweep SET next = v_now + p_pause WHERE id = 1 AND (next <= v_now OR next > v_now + p_pause);
	IF ROW_COUNT() > 0 THEN
		SELECT locks, claims FROM holdfast_sweep WHERE id = 1;
	END IF;
END
