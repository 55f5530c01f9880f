-- Locks the row of a lock until the transaction ends, so that one changes a queue at a time. Takes the name.
CREATE FUNCTION holdfast1_enter(p_name bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	LOOP
		PERFORM FROM holdfast_locks WHERE name = p_name FOR UPDATE;
		EXIT WHEN FOUND;
		INSERT INTO holdfast_locks (name, token) VALUES (p_name, 0) ON CONFLICT DO NOTHING;
	END LOOP;
END
$$;
