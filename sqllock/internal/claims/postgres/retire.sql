-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes for how long in
-- microseconds, and how many at most; returns their names.
CREATE FUNCTION holdfast1_retire(p_keep bigint, p_most bigint) RETURNS TABLE (name bytea)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_least bigint := holdfast1_now() - p_keep;
BEGIN
	RETURN QUERY DELETE FROM holdfast_locks l WHERE l.token < v_least AND l.name = ANY (ARRAY(
		SELECT o.name FROM holdfast_locks o
		WHERE o.token < v_least AND NOT EXISTS (SELECT FROM holdfast_claims c WHERE c.name = o.name)
		ORDER BY o.name LIMIT p_most FOR UPDATE SKIP LOCKED
	)) RETURNING l.name;
END
$$;
