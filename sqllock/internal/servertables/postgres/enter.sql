-- Locks the row of a lock until the transaction ends, so that one changes a queue at a time. A release that was only noted
-- is carried out first, and a claim that has the lock to itself is moved to the queue. Takes the name.
-- Whoever changes a queue reads the clock after this, because it may wait for the row while deadlines pass.
CREATE FUNCTION holdfast1_enter(p_name bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_released bigint;
	v_spills   boolean;
BEGIN
	LOOP
		SELECT released, id <> '' OR ended <> '' INTO v_released, v_spills FROM holdfast_locks WHERE name = p_name FOR UPDATE;
		EXIT WHEN FOUND;
		INSERT INTO holdfast_locks (name, token, released, barred)
		SELECT p_name, 0, 0, coalesce(max(deadline + 0), 0) FROM holdfast_ends WHERE name = p_name -- not by the index of deadlines
		ON CONFLICT DO NOTHING;
	END LOOP;
	IF v_spills THEN
		PERFORM holdfast1_spill(p_name);
	END IF;
	IF v_released > 0 THEN
		PERFORM holdfast1_pass(p_name, v_released);
	END IF;
END
$$;
