-- Lets go of a bell of this session, at the moment at which others can see what this transaction has changed: the
-- transaction's own hold on it ends then. Takes the claim's ID and which bell.
CREATE FUNCTION holdfast1_ring(p_id text, p_which text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_bell bigint := holdfast1_bell(p_id, p_which);
BEGIN
	IF pg_try_advisory_xact_lock(v_bell) THEN
		PERFORM pg_advisory_unlock(v_bell);
	END IF;
END
$$;
