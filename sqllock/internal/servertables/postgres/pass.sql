-- Carries out releases that were only noted in the row of the lock, which is locked: takes these claims out of the queue,
-- whatever their deadlines are, and grants what is behind them. So the queue begins behind them. Takes the name and the token up
-- to which claims were released.
CREATE FUNCTION holdfast1_pass(p_name bytea, p_released bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_now bigint := holdfast1_now();
BEGIN
	PERFORM holdfast1_finish(p_name, d.id, true, v_now, 9223372036854775807)
	FROM (
		SELECT id FROM holdfast_claims
		WHERE name || '' = p_name AND granted IN (false, true) AND token <= p_released
			AND token >= (SELECT head FROM holdfast_locks WHERE name = p_name)
		ORDER BY token
	) d;
	-- Before it settles, which looks at the queue from its head on.
	UPDATE holdfast_locks SET released = 0, noted = 0, head = p_released + 1 WHERE name = p_name;
	PERFORM holdfast1_settle(p_name, v_now);
END
$$;
