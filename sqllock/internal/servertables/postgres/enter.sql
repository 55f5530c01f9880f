-- Locks the row of a lock until the transaction ends, so that one changes a queue at a time. A release that was only noted
-- is carried out first. Takes the name.
-- Whoever changes a queue reads the clock after this, because it may wait for the row while deadlines pass.
CREATE FUNCTION holdfast1_enter(p_name bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_released bigint;
BEGIN
	LOOP
		SELECT released INTO v_released FROM holdfast_locks WHERE name = p_name FOR UPDATE;
		EXIT WHEN FOUND;
		INSERT INTO holdfast_locks (name, token, released) VALUES (p_name, 0, 0) ON CONFLICT DO NOTHING;
	END LOOP;
	IF v_released > 0 THEN
		PERFORM holdfast1_pass(p_name, v_released);
	END IF;
END
$$;
