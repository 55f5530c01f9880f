-- Notes how far sweeping has come. Takes the names after which to go on; empty ones are the beginning.
CREATE FUNCTION holdfast1_mark(p_locks bytea, p_claims bytea) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$
	UPDATE holdfast_sweep SET locks = p_locks, claims = p_claims WHERE id = 1
$$;
