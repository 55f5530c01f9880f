-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes for how long in
-- microseconds, and how many; returns how many it were.
CREATE FUNCTION holdfast1_retire(p_keep bigint, p_most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_count bigint;
BEGIN
	DELETE FROM holdfast_locks l WHERE l.token < holdfast1_now() - p_keep AND l.name = ANY (ARRAY(
		SELECT o.name FROM holdfast_locks o
		WHERE o.token < (SELECT holdfast1_now()) - p_keep
			AND NOT EXISTS (SELECT FROM holdfast_claims c WHERE c.name = o.name)
		ORDER BY o.name LIMIT p_most FOR UPDATE SKIP LOCKED
	));
	GET DIAGNOSTICS v_count = ROW_COUNT;
	RETURN v_count;
END
$$;
