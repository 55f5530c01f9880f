-- Carries out releases that were only noted in the row of the lock, which is locked: takes these claims out of the queue, and
-- grants what is behind them. Takes the name and the token up to which claims were released.
CREATE FUNCTION holdfast1_pass(p_name bytea, p_released bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_now bigint := holdfast1_now();
BEGIN
	WITH taken AS (
		DELETE FROM holdfast_claims WHERE name = p_name AND granted IN (false, true) AND token <= p_released
		RETURNING id, token, ttl
	)
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT p_name, id, token, true, v_now + ttl FROM taken
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
	UPDATE holdfast_locks SET released = 0 WHERE name = p_name;
	PERFORM holdfast1_settle(p_name, v_now);
END
$$;
