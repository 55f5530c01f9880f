-- Lists locks with live claims, looking at so many locks and no more. Takes the name to begin at, the name to end before, and
-- how many rows to look at. Returns kinds with names: 0 the name after which to go on, empty at the end; 1 a lock with live
-- claims.
CREATE FUNCTION holdfast1_page(p_from bytea, p_end bytea, p_look bigint)
RETURNS TABLE (kind integer, name bytea) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now  bigint := holdfast1_now();
	v_seen record;
BEGIN
	SELECT count(*) AS rows, (array_agg(s.name ORDER BY s.name DESC))[1] AS last INTO v_seen FROM (
		SELECT l.name FROM holdfast_locks l WHERE l.name >= p_from AND l.name < p_end ORDER BY l.name LIMIT p_look
	) s;
	RETURN QUERY SELECT 0, CASE WHEN v_seen.rows < p_look THEN ''::bytea ELSE v_seen.last END;
	RETURN QUERY SELECT 1, l.name FROM holdfast_locks l
		WHERE l.name >= p_from AND l.name <= v_seen.last AND (l.id <> '' AND l.deadline > v_now OR l.queued AND EXISTS (
			SELECT FROM holdfast_claims c WHERE c.name = l.name AND c.deadline > v_now AND c.token > l.released
		));
END
$$;
